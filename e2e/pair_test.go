package e2e_test

import (
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// What the README promises of a change of duty.
const (
	afterAKill = 20 * time.Second
	afterAStop = 3 * time.Second
)

// pair runs two processes of the world's bot. The first has the duty, the other
// one stands by.
func (w *world) pair(flags ...string) (holder, other *bot) {
	w.t.Helper()
	holder = w.start(flags...).onDuty()
	return holder, w.start(flags...).standBy()
}

// onDuty waits until the process polls, which only the one on duty does.
func (b *bot) onDuty() *bot {
	b.w.t.Helper()
	b.polls(time.Time{})
	return b
}

// standBy waits until the process is ready and says that another one has the duty.
func (b *bot) standBy() *bot {
	b.w.t.Helper()
	b.w.eventually("the process stands by: see "+b.log, func() bool {
		status, text := b.get("/readyz")
		return status == http.StatusOK && strings.Contains(text, "stand-by") && strings.Contains(text, "@ is on duty")
	})
	return b
}

// polls waits for the process's first poll after a time and returns when it came.
func (b *bot) polls(after time.Time) time.Time {
	b.w.t.Helper()
	b.w.eventually("the process polls: see "+b.log, func() bool { return len(b.asked("getUpdates", after)) > 0 })
	return b.asked("getUpdates", after)[0]
}

// successor waits until one of the processes polls after a time.
func (w *world) successor(after time.Time, among ...*bot) *bot {
	w.t.Helper()
	var found *bot
	w.eventually("a successor polls", func() bool {
		for _, b := range among {
			if len(b.asked("getUpdates", after)) > 0 {
				found = b
			}
		}
		return found != nil
	})
	return found
}

// terms is how often the process has taken the duty, which a slow machine may take
// from it.
func (b *bot) terms() int {
	n := 0
	for _, line := range b.lines() {
		if line["msg"] == "on duty" {
			n++
		}
	}
	return n
}

// oneVoice checks that Telegram never saw two polls at once.
func (w *world) oneVoice() {
	w.t.Helper()
	for _, r := range w.calls("getUpdates") {
		require.False(w.t, r.Overlapped, "two polls at %s", r.Arrived)
	}
}

// ending is a way in which a process leaves, and what it may leave behind.
type ending struct {
	leave func(*bot)
	bound time.Duration // from then on to the successor's first poll
	clean bool          // nothing was in the air
}

var endings = map[string]ending{
	"stopped": {leave: func(b *bot) {
		code, took := b.stop()
		require.Zero(b.w.t, code)
		require.Less(b.w.t, took, 25*time.Second)
	}, bound: afterAStop, clean: true},
	"killed": {leave: (*bot).kill, bound: afterAKill},
	"frozen": {leave: func(b *bot) { b.signal(syscall.SIGSTOP) }, bound: afterAKill},
}

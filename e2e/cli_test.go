package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// durabot runs a verb of the command line, which knows the bot by its id and
// speaks to Temporal only. It returns what it printed, and its exit code.
func (w *world) durabot(args ...string) (string, int) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), shared.durabot, append(args, "--bot", strconv.FormatInt(w.bot, 10))...) //nolint:gosec // our own binary
	cmd.Env = append(append(os.Environ(), "TEMPORAL_ADDRESS="+w.address), w.env...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		w.t.Logf("durabot %s: %s", args[0], exit.Stderr)
		return string(out), exit.ExitCode()
	}
	require.NoError(w.t, err)
	return string(out), 0
}

// must is durabot for a verb that must succeed.
func (w *world) must(args ...string) string {
	w.t.Helper()
	out, code := w.durabot(args...)
	require.Zero(w.t, code, out)
	return out
}

// receipt is what send, and message show, print.
type receipt struct {
	contract.CallResult
	Key        string `json:"key"`
	Duplicate  bool   `json:"duplicate"`
	DeadLetter string `json:"dead_letter"`
}

// send is durabot send to a chat.
func (w *world) send(chat int64, args ...string) receipt {
	w.t.Helper()
	out, _ := w.durabot(append([]string{"send", "-o", "json", fmt.Sprintf("--chat=%d", chat)}, args...)...)
	return parse[receipt](w.t, out)
}

// shown is durabot message show.
func (w *world) shown(key string) receipt {
	w.t.Helper()
	return parse[receipt](w.t, w.must("message", "show", key, "-o", "json"))
}

// parse reads what a verb has printed for scripts.
func parse[T any](t *testing.T, out string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(out), &v), out)
	return v
}

// letter is a line of dead list.
type letter struct {
	ID       string          `json:"id"`
	Reason   contract.Reason `json:"reason"`
	Kind     string          `json:"kind"`
	ChatID   string          `json:"chat_id"`
	Method   string          `json:"method"`
	Error    string          `json:"error"`
	Attempts int             `json:"attempts"`
}

// dead is durabot dead list, waited for until it has n lines: a list lags behind.
func (w *world) dead(n int, filter ...string) []letter {
	w.t.Helper()
	var all []letter
	require.Eventually(w.t, func() bool {
		out, code := w.durabot(append([]string{"dead", "list", "-o", "json"}, filter...)...)
		if code == 0 {
			all = parse[[]letter](w.t, out)
		}
		return code == 0 && len(all) == n
	}, patience, 300*time.Millisecond, "%d dead letters", n)
	return all
}

// stats is what durabot stats prints.
type stats struct {
	Duty struct {
		Holder  string    `json:"holder"`
		Since   time.Time `json:"since"`
		Address string    `json:"address"`
	} `json:"duty"`
	Limiter          *contract.LimiterFigures `json:"limiter"`
	UnreachableChats int                      `json:"unreachable_chats"`
	Paused           *contract.Pause          `json:"paused"`

	InboxUnhandled   int `json:"inbox_unhandled"`
	QueueDepth       int `json:"queue_depth"`
	OldestPendingAge int `json:"oldest_pending_age_s"`
	DeadOpen         int `json:"dead_open"`
	DeadLast24h      int `json:"dead_last_24h"`
	DeliveredLast24h int `json:"delivered_last_24h"`
}

func (w *world) stats() stats {
	w.t.Helper()
	return parse[stats](w.t, w.must("stats", "-o", "json"))
}

// shows waits until stats says so, asking less often than eventually does: each
// time is a process.
func (w *world) shows(what string, ok func(stats) bool) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		out, code := w.durabot("stats", "-o", "json")
		return code == 0 && ok(parse[stats](w.t, out))
	}, patience, 300*time.Millisecond, what)
}

// of reports whether a process holds the duty.
func (s stats) of(b *bot) bool {
	return strings.HasPrefix(s.Duty.Holder, strconv.Itoa(b.cmd.Process.Pid)+"@")
}

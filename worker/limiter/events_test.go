package limiter_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/durabot/durabot/worker/limiter"
)

// happening says what an event is.
type happening int

const (
	granted happening = iota
	answered
	cancelled
	refused
	holding
	released
	moved
	handedOver
	told // to come back, or that it has ended
)

// event is one thing that happened, in the order in which it did.
type event struct {
	what  happening
	at    time.Duration
	send  *send
	scope limiter.Scope // of a 429
	until time.Duration // of a 429
	err   error         // told
}

// note logs an event; w.mu is held.
func (w *world) note(e event) {
	e.at = w.now()
	w.events = append(w.events, e)
}

// story tells what happened, for the failure of a random schedule.
func (w *world) story() string {
	var b strings.Builder
	names := map[happening]string{granted: "granted", answered: "answered", cancelled: "cancelled", refused: "429", holding: "hold", released: "release", moved: "moved", handedOver: "handed over", told: "told"}
	for _, e := range w.events {
		fmt.Fprintf(&b, "%12v %-11s", e.at, names[e.what])
		if s := e.send; s != nil {
			fmt.Fprintf(&b, " %s to %d, %d items, %v, since %v, counts %v %s", s.Method, s.Chat, s.Items, s.Class, s.Since.Sub(w.start), s.Counts, s.Edits)
		}
		if e.what == refused {
			fmt.Fprintf(&b, " %v until %v", e.scope, e.until)
		}
		if e.err != nil {
			fmt.Fprintf(&b, ": %v", e.err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

package telegramsim

import "time"

// The rules for connections are those of tdlib/telegram-bot-api (WebhookActor.cpp,
// create_new_connections and start_up).
const (
	quietAfter     = 10 * time.Second
	connectionLife = time.Minute // of an idle one
	burst          = 10
	burstSpan      = 500 * time.Millisecond
)

// connections counts what the real server would have open to a receiver. They are
// not net/http's, which opens and keeps its own by other rules.
type connections struct {
	open int
	idle []time.Time // since when, oldest first
	made window      // while deliveries succeed
	slow window      // when none has for a while
}

// prepare closes what was idle too long and opens what is needed for so many
// lanes: ten in half a second while the last success is no older than 10 s, else one
// in all, and a new one only each pause. It returns the wait until it may open more.
// Connections that are there already are used on, however long nothing succeeded.
func (c *connections) prepare(need int, healthy bool, pause time.Duration, now time.Time) time.Duration {
	for len(c.idle) > 0 && now.Sub(c.idle[0]) >= connectionLife {
		c.idle = c.idle[1:]
		c.open--
	}
	w, span, limit := &c.made, burstSpan, burst
	if !healthy {
		w, span, limit, need = &c.slow, pause, 1, min(need, 1)
	}
	for c.open < need {
		if wait := w.wait(now, span, limit, 1); wait > 0 {
			return wait
		}
		w.add(now, 1)
		c.open++
		c.idle = append(c.idle, now)
	}
	return idleCourier
}

// take uses the idle connection that was used last.
func (c *connections) take() { c.idle = c.idle[:len(c.idle)-1] }

// release ends the use of a connection. One that brought no answer is of no more use.
func (c *connections) release(closed bool, now time.Time) {
	if closed {
		c.open--
		return
	}
	c.idle = append(c.idle, now)
}

package limiter

import "time"

// call is one Request on its way: waiting in its lane until it is settled by a
// grant or an error. A paced call stays in its queue after that, as its kept
// place, until it comes back or its alarm takes it away.
type call struct {
	node
	alarm
	req   Request
	since int64 // Since in nanoseconds: which call it is when it comes back
	order int64 // its place: Since, or that of the edit it superseded
	seq   uint64
	lane  *lane

	settled bool
	done    chan struct{} // closed when settled; nil if nobody waits for it
	grant   *Grant
	err     error

	granted               time.Duration // when it was granted, or is expected back
	paceBefore, paceAfter time.Duration // the bot's pace around its grant
	probing               bool          // it is the probe of some penalty
	mute                  bool          // its answer, a 429 or none, clears nobody
}

// settle answers the one waiting in Acquire.
func (c *call) settle(g *Grant, err error) {
	c.settled, c.grant, c.err = true, g, err
	if c.done != nil {
		close(c.done)
	}
}

// scopes lists what a penalty that holds c can be on. One may be in it more than
// once.
func (c *call) scopes() [4]Scope {
	return [4]Scope{{}, {Chat: c.req.Chat}, {Method: c.req.Method}, {Chat: c.req.Chat, Method: c.req.Method}}
}

// same reports whether place is what c left behind when it was paced.
func (c *call) same(place *call) bool {
	return place.settled && place.since == c.since && place.req.Edits == c.req.Edits
}

// wake ends a kept place, or the patience of a call that waits.
func (c *call) wake(l *Limiter, now time.Duration) {
	switch {
	case c.settled:
		c.lane.queues[c.req.Class].remove(c)
	case c.req.Transient:
		l.refuse(c, ErrDropped)
	default:
		l.reconsider(c, now)
	}
	l.evaluate(c.lane, now)
}

package limiter

import "time"

// transientWait is how long a transient call waits for the bot: "typing" that
// comes later than the answer it announces is worse than none.
const transientWait = time.Second

// admitTransient puts c into line for its one second, or drops it.
func (l *Limiter) admitTransient(c *call, now time.Duration) {
	if !l.welcome(c, now) {
		c.settle(nil, ErrDropped)
		return
	}
	l.line(c)
	l.alarms.set(&c.alarm, c, now+transientWait)
}

// welcome reports whether a transient call may wait for its turn at all: its
// chat is free and no penalty is near. One that only waits for its probe counts:
// a transient call proves too little.
func (l *Limiter) welcome(c *call, now time.Duration) bool {
	if len(l.held) > 0 {
		return false
	}
	for _, scope := range c.scopes() {
		if l.penalties[scope] != nil {
			return false
		}
	}
	return !c.req.Counts || c.lane.idle() && c.lane.budget.spare(now, c.req.Items)
}

// yield drops the transient call that waits in a lane, if there is one: it then
// stands there alone.
func (l *Limiter) yield(ln *lane) {
	for class := range ln.queues {
		if c := ln.queues[class].first(); c != nil && c.req.Transient {
			l.refuse(c, ErrDropped)
		}
	}
}

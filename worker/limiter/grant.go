package limiter

import (
	"slices"
	"time"
)

// Grant is the right to send one request, now. It must end in exactly one of
// Done, Lost and Cancel; only the first call of any of them has an effect.
type Grant struct {
	limiter *Limiter
	call    *call
	ended   bool
}

// Stands reports whether the request may still leave: a penalty that would hold it
// may have begun since. Who lets time pass between the two asks, and cancels a
// grant that does not stand.
func (g *Grant) Stands() bool {
	l := g.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for _, scope := range g.call.scopes() {
		if p := l.penalties[scope]; p != nil && now < p.until && p.probe != g.call {
			return false
		}
	}
	return true
}

// Done says that Telegram answered, whatever it was: the call stays in its windows
// for one length from now. After a 429 call [Limiter.Penalize] first.
func (g *Grant) Done() {
	g.finish(true)
}

// Lost is Done for a request that has no answer of Telegram's own, or will have
// none: it does not clear the bot of 429s that others met.
func (g *Grant) Lost() {
	g.limiter.mute(g.call)
	g.finish(true)
}

// Cancel says that the request is known not to have left, and gives its budget
// back.
func (g *Grant) Cancel() {
	g.finish(false)
}

func (g *Grant) finish(answered bool) {
	l := g.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	g.end(answered, now)
	l.dispatch(now)
}

// end is called with the limiter's lock held.
func (g *Grant) end(answered bool, now time.Duration) {
	if g.ended {
		return
	}
	g.ended = true
	l, c := g.limiter, g.call
	if c.req.Counts {
		l.close(c, answered, now)
	}
	l.probed(c, answered, now)
	l.evaluate(c.lane, now)
}

// close takes a counted call out of the air and charges its answer.
func (l *Limiter) close(c *call, answered bool, now time.Duration) {
	c.lane.inAir = slices.DeleteFunc(c.lane.inAir, func(other *call) bool { return other == c })
	if !answered {
		l.pool(c.req).giveBack(c)
		return
	}
	l.acquit(c)
	l.pool(c.req).answered(c, now)
	c.lane.budget.charge(now, c.req.Items)
}

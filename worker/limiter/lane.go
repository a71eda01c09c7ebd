package limiter

import (
	"container/list"
	"slices"
	"time"
)

// patience is how often a lower class is passed over before it is its turn, per
// class: one grant in twenty for bulk; one in five for normal, because bulk that
// is due goes first.
var patience = [classes]int{Normal: 3, Bulk: 19}

// lane is one chat's line: who waits, who is in the air, what it may still take.
// A call that names no chat, or spends nothing, has a lane of its own for as
// long as it waits.
type lane struct {
	alarm
	chat   int64 // 0: a lane for one call
	queues [classes]queue
	passed [classes]int // grants since the class last had one, while it waited
	budget budget
	edits  edits
	inAir  []*call // one, or another chat's that became this one

	offer  *call         // who goes when the lane has its turn
	lead   *call         // whose turn that is: of what class and flow
	seat   *list.Element // its place among the turns; nil: not ready
	list   *list.List    // where seat is
	flow   *flow         // whose list that is; nil for a call that spends nothing
	parked *penalty      // whose probe it last waited for
}

// choose picks who goes next and in whose turn: the most important that waits. A
// class passed over too often goes in its stead, unless that would be to wait for
// the pace of a flow. If anyone may scout p, the penalty on the chat, only such
// calls are looked at.
func (ln *lane) choose(p *penalty, flows paces, now time.Duration) *call {
	if p.open(now) {
		scout := ln.pick(func(q *queue) *call { return q.firstOf(p.passes) }, flows, now)
		if scout != nil {
			return scout
		}
	}
	return ln.pick((*queue).first, flows, now)
}

func (ln *lane) pick(first func(*queue) *call, flows paces, now time.Duration) *call {
	ln.lead = nil
	var chosen *call
	for class := range Class(classes) {
		c := first(&ln.queues[class])
		switch {
		case c == nil || c.settled: // nobody, or a kept place that holds the class
		case chosen == nil:
			chosen, ln.lead = c, c
		case ln.passed[class] >= patience[class] && flows[c.req.Flow].open(now):
			chosen = c
		}
	}
	return chosen
}

// granted moves the ages of the classes on, after c was taken from its queue.
func (ln *lane) granted(c *call) {
	ln.passed[c.req.Class] = 0
	for class := range Class(classes) {
		first := ln.queues[class].first()
		if class != c.req.Class && first != nil && !first.settled {
			ln.passed[class]++
		}
	}
}

// opens returns when c may go as far as its chat's limits are concerned.
func (ln *lane) opens(c *call, now time.Duration) time.Duration {
	switch {
	case !c.req.Counts:
		return now
	case len(ln.inAir) > 0:
		return never
	}
	return ln.budget.opens(now, c.req.Items)
}

// forecast estimates when c will go, behind all that goes before it and not
// before the instant opens, at which a penalty on the chat ends (0: none).
func (ln *lane) forecast(c *call, now, opens time.Duration) time.Duration {
	items := ln.queues[c.req.Class].before(c)
	for class := range c.req.Class {
		items += ln.queues[class].items()
	}
	for _, inAir := range ln.inAir {
		items += inAir.req.Items
	}
	due := max(opens, ln.budget.forecast(now, items, c.req.Items))
	if opens > now && ln.budget.rule != nil {
		due = max(due, opens+time.Duration(items)*ln.budget.step(now))
	}
	return ln.behind(ln.queues[c.req.Class].first(), c, due)
}

// behind puts off what is due if c stands behind a place kept.
func (ln *lane) behind(first, c *call, due time.Duration) time.Duration {
	if first != nil && first.settled && first.less(c) {
		due = max(due, first.granted)
	}
	return due
}

// calls lists those who wait and the places kept.
func (ln *lane) calls() []*call {
	var calls []*call
	for class := range ln.queues {
		ln.queues[class].root.walk(func(c *call) { calls = append(calls, c) })
	}
	return calls
}

// live lists the calls that wait, without the places kept.
func (ln *lane) live() []*call {
	return slices.DeleteFunc(ln.calls(), func(c *call) bool { return c.settled })
}

// idle reports whether nothing waits, keeps a place or is in the air.
func (ln *lane) idle() bool {
	for class := range ln.queues {
		if ln.queues[class].root != nil {
			return false
		}
	}
	return len(ln.inAir) == 0
}

// rests returns when the lane can be forgotten, never while it is in use.
func (ln *lane) rests(now time.Duration) time.Duration {
	if !ln.idle() {
		return never
	}
	return max(ln.budget.rests(now), ln.edits.until)
}

// wake looks again at a lane whose time may have come.
func (ln *lane) wake(l *Limiter, now time.Duration) {
	l.evaluate(ln, now)
}

package limiter

import (
	"container/list"
	"time"
)

// pool is one budget of the whole bot, and the lanes that are ready and wait for
// that only.
type pool struct {
	bot
	turns
	openAt time.Duration // when it lets the next ready lane go
}

// turns seats the lanes that are ready: one ring of flows per class, and in each
// flow one of lanes. Flow and lane move to the back by having their turn.
type turns struct {
	free   list.List // lanes of calls that spend nothing
	rings  [classes]ring
	passed [classes]int // grants since the ring was last served, while it waited
}

// join seats ln at the back of its flow, whose pace is p; a lane that sits there
// already stays.
func (t *turns) join(ln *lane, p *pace) {
	ring := &t.rings[ln.lead.req.Class]
	switch {
	case !ln.offer.req.Counts && ln.list == &t.free:
	case !ln.offer.req.Counts:
		ln.stand()
		ln.list, ln.seat = &t.free, t.free.PushBack(ln)
	case ln.flow == nil || ln.flow != ring.byName[ln.lead.req.Flow]:
		ln.stand()
		ring.sit(ln, ln.lead.req.Flow, p)
	default:
		ln.flow.pace = p
	}
}

// stand gives a lane's seat up.
func (ln *lane) stand() {
	if ln.seat == nil {
		return
	}
	ln.list.Remove(ln.seat)
	if ln.flow != nil && ln.flow.lanes.Len() == 0 {
		ln.flow.rise()
	}
	ln.list, ln.flow, ln.seat = nil, nil, nil
}

// next returns the lane whose turn it is. If none is, it says when a flow lets
// one go that is ready: never, if none is. A ring passed over too often comes first,
// the lowest class before the others.
func (t *turns) next(now time.Duration) (*lane, time.Duration) {
	if front := t.free.Front(); front != nil {
		return front.Value.(*lane), now
	}
	for class := classes - 1; class > 0; class-- {
		if t.passed[class] >= patience[class] {
			if ln, _ := t.rings[class].next(now); ln != nil {
				return ln, now
			}
		}
	}
	opens := never
	for class := range t.rings {
		ln, at := t.rings[class].next(now)
		if ln != nil {
			return ln, now
		}
		opens = min(opens, at)
	}
	return nil, opens
}

// served moves the ages of the rings on when ln has had its turn.
func (t *turns) served(ln *lane, now time.Duration) {
	counts := ln.flow != nil
	for class := range t.rings {
		switch ring := &t.rings[class]; {
		case counts && ln.flow.ring == ring:
			t.passed[class] = 0
		case counts && ring.waits(now):
			t.passed[class]++
		}
	}
	if counts {
		ln.flow.ring.list.MoveToBack(ln.flow.seat)
	}
}

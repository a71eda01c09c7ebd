package limiter

import "container/list"

// turns seats the lanes that are ready and wait for the bot only: one ring per
// class, in which each lane moves to the back by having its turn.
type turns struct {
	free   list.List // lanes of calls that spend nothing
	rings  [classes]list.List
	passed [classes]int // grants since the ring was last served, while it waited
}

// join seats ln at the back of its ring; a lane that sits there already stays.
func (t *turns) join(ln *lane) {
	ring := &t.rings[ln.rank]
	if !ln.offer.req.Counts {
		ring = &t.free
	}
	if ln.ring == ring {
		return
	}
	t.leave(ln)
	ln.ring, ln.seat = ring, ring.PushBack(ln)
}

func (t *turns) leave(ln *lane) {
	if ln.seat != nil {
		ln.ring.Remove(ln.seat)
		ln.ring, ln.seat = nil, nil
	}
}

// next returns the lane whose turn it is, nil if none is ready. A ring passed
// over too often comes first, the lowest class before the others.
func (t *turns) next() *lane {
	if front := t.free.Front(); front != nil {
		return front.Value.(*lane)
	}
	for class := classes - 1; class > 0; class-- {
		if front := t.rings[class].Front(); front != nil && t.passed[class] >= patience[class] {
			return front.Value.(*lane)
		}
	}
	for class := range t.rings {
		if front := t.rings[class].Front(); front != nil {
			return front.Value.(*lane)
		}
	}
	return nil
}

// served moves the ages of the rings on when ln has had its turn.
func (t *turns) served(ln *lane) {
	for class := range t.rings {
		switch ring := &t.rings[class]; {
		case ring == ln.ring:
			t.passed[class] = 0
		case ln.ring != &t.free && ring.Len() > 0:
			t.passed[class]++
		}
	}
}

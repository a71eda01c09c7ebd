package limiter

import "time"

const (
	editMemory = 15 * time.Minute // after an edit was last seen, or is expected back
	editSweep  = time.Minute      // how often a chat looks for edits to forget
)

// edits remembers the newest edit of each message of a chat.
type edits struct {
	newest map[string]edit
	until  time.Duration // when nothing is left to remember
	swept  time.Duration
}

// edit is the newest call that edits one message.
type edit struct {
	since, order int64 // of the call
	class        Class
	until        time.Duration // when it is forgotten
	contested    bool          // there was an older one, which may come back
}

// supersede makes c the newest edit of its message. An older one that waits ends,
// and c takes its place: else a stream of edits would overtake itself for ever.
// It returns false if c itself is the older.
func (l *Limiter) supersede(c *call, now time.Duration) bool {
	ln, key := c.lane, c.req.Edits
	ln.sweep(now)
	known, seen := ln.edits.newest[key]
	if seen && c.since < known.since {
		ln.recall(c, now)
		return false
	}
	e := edit{since: c.since, order: c.since, class: c.req.Class, contested: known.contested}
	switch old := ln.placeOf(key, known); {
	case seen && c.since == known.since:
		e.order = known.order
	case old != nil && old.settled:
		e.order, e.contested = old.order, true
		l.alarms.clear(&old.alarm)
		ln.queues[old.req.Class].remove(old)
	case old != nil:
		e.order, e.contested = old.order, true
		l.refuse(old, ErrSuperseded)
	default:
		e.contested = seen
	}
	c.order = e.order
	e.until = known.until
	ln.edits.put(key, e)
	ln.recall(c, now)
	return true
}

func (es *edits) put(key string, e edit) {
	if es.newest == nil {
		es.newest = map[string]edit{}
	}
	es.newest[key] = e
	es.until = max(es.until, e.until)
}

// recall remembers the message that c edits for some time after the instant at.
func (ln *lane) recall(c *call, at time.Duration) {
	if e, seen := ln.edits.newest[c.req.Edits]; seen {
		e.until = max(e.until, at+editMemory)
		ln.edits.put(c.req.Edits, e)
	}
}

// placeOf returns the call of an edit while it waits or keeps a place, or nil.
func (ln *lane) placeOf(key string, e edit) *call {
	return ln.queues[e.class].at(e.order, func(c *call) bool {
		return c.since == e.since && c.req.Edits == key
	})
}

// sweep forgets the edits of old; one whose call stands in line is not.
func (ln *lane) sweep(now time.Duration) {
	if now-ln.edits.swept < editSweep {
		return
	}
	ln.edits.swept = now
	for key, e := range ln.edits.newest {
		if e.until <= now && ln.placeOf(key, e) == nil {
			delete(ln.edits.newest, key)
		}
	}
}

// absorb takes the edits of another chat over.
func (es *edits) absorb(other *edits) {
	for key, e := range other.newest {
		if mine, seen := es.newest[key]; !seen || mine.since < e.since {
			es.put(key, e)
		}
	}
}

package telegramsim

import (
	"context"
	"net/http"
	"time"
)

const (
	topBackoff    = time.Minute // the least of the random longest waits; the most is twice this
	maxRetryAfter = time.Hour
	goneFor       = 23 * time.Hour
)

// loadUpdates takes updates from the queue until twice as many lanes as connections have
// one: when so many lanes fail, nothing else is delivered. One load takes no more
// than a batch, so as not to hold the lock for long; it then asks to be called at
// once again.
func (s *Sim) loadUpdates(h *courier, now time.Time) time.Duration {
	room := 2*h.hook.MaxConnections - len(h.lanes)
	batch := s.queue.from(h.loaded, room)
	for _, item := range batch {
		h.loaded = item.serial + 1
		if !now.Before(item.Expires) {
			continue
		}
		o := &outgoing{queued: item, lane: laneOf(item), delay: s.opts.WebhookBackoff / 2, due: now}
		h.lanes[o.lane] = append(h.lanes[o.lane], o)
	}
	if len(batch) == room && room > 0 {
		return 0
	}
	return idleCourier
}

// next is the first of the lanes to go, by its time and then by age, or nil when all
// are on their way.
func (h *courier) next() *outgoing {
	var first *outgoing
	for _, list := range h.lanes {
		o := list[0]
		if o.open {
			continue
		}
		if first == nil || o.due.Before(first.due) || (o.due.Equal(first.due) && o.serial < first.serial) {
			first = o
		}
	}
	return first
}

// dropExpired lets go of updates that became too old while their lane was blocked.
func (h *courier) dropExpired(now time.Time) {
	for _, list := range h.lanes {
		for _, o := range list {
			if o.open || now.Before(o.Expires) {
				break
			}
			h.pop(o)
		}
	}
}

// pop takes the first update out of its lane.
func (h *courier) pop(o *outgoing) {
	if rest := h.lanes[o.lane][1:]; len(rest) > 0 {
		h.lanes[o.lane] = rest
		return
	}
	delete(h.lanes, o.lane)
}

// settle enters what came of a delivery, and reports whether its answer counts: that
// of a webhook which is gone does not.
func (s *Sim) settle(ctx context.Context, h *courier, o *outgoing, d *Delivery, r receipt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	d.Answered, d.Status = now, r.status
	if kept := s.queue.find(o.serial); kept != nil && !r.lost {
		kept.unanswered--
	}
	if s.courier != h || ctx.Err() != nil {
		return false
	}
	if o.extra {
		return true
	}
	h.conns.release(r.closed, now)
	if r.failure == "" {
		h.lastSuccess, h.firstGone = now, time.Time{}
		h.pop(o)
		s.queue.confirm(o.serial)
		s.changed()
		return true
	}
	s.failed(h, o, r, now)
	return true
}

// failed decides on the next try: at once after the first failure, then after 2, 4,
// 8 ... s up to a random 60 to 120 s, or when the receiver's Retry-After says. An
// update that would be too old by then is dropped.
func (s *Sim) failed(h *courier, o *outgoing, r receipt, now time.Time) {
	h.failedAt, h.failure = now, r.failure
	wait := r.retryAfter
	if wait == 0 && o.fails > 0 {
		top := topBackoff + time.Duration(s.rng.Int64N(int64(topBackoff/time.Second)+1))*time.Second
		o.delay = min(2*o.delay, top)
		wait = o.delay
	}
	o.open, o.due = false, now.Add(wait)
	o.fails++
	if o.due.After(o.Expires) {
		h.pop(o)
		s.queue.remove(o.serial)
		s.changed()
	}
	s.gone(h, r, now)
}

// gone removes a webhook that answered 410 Gone, and nothing else, for 23 hours. No
// answer at all is no other answer.
func (s *Sim) gone(h *courier, r receipt, now time.Time) {
	switch {
	case r.status == 0:
	case r.status != http.StatusGone:
		h.firstGone = time.Time{}
	case h.firstGone.IsZero():
		h.firstGone = now
	case now.Sub(h.firstGone) > goneFor:
		s.closeWebhook()
	}
}

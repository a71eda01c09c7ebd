package telegramsim

import "time"

// window counts calls over a sliding span. A call leaves the window exactly one
// span after it entered.
type window struct {
	hits  []hit // oldest first
	total int   // of the weights in hits
}

// hit is one call; an album weighs as much as it has items.
type hit struct {
	at     time.Time
	weight int
}

// wait tells how long a call of this weight must still wait for room: 0 means
// it may pass now. A call heavier than the whole limit passes when the window
// is empty, for else no album could ever be sent to a private chat.
func (w *window) wait(now time.Time, span time.Duration, limit, weight int) time.Duration {
	w.prune(now, span)
	excess := w.total + min(weight, limit) - limit
	if excess <= 0 {
		return 0
	}
	for _, h := range w.hits {
		excess -= h.weight
		if excess <= 0 {
			return h.at.Add(span).Sub(now)
		}
	}
	return span
}

// add enters a call that was let through.
func (w *window) add(now time.Time, weight int) {
	w.hits = append(w.hits, hit{at: now, weight: weight})
	w.total += weight
}

// prune forgets calls a whole span old. The edge belongs to the past: a caller
// told to wait n seconds may come back after exactly n.
func (w *window) prune(now time.Time, span time.Duration) {
	edge := now.Add(-span)
	gone := 0
	for gone < len(w.hits) && !w.hits[gone].at.After(edge) {
		w.total -= w.hits[gone].weight
		gone++
	}
	if gone == len(w.hits) {
		w.hits = w.hits[:0]
		return
	}
	w.hits = w.hits[gone:]
}

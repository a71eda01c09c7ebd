package limiter

import (
	"math"
	"slices"
	"time"
)

// never is the instant of something that waits for an event, not for a time.
// Instants are durations since New, so that wall-clock steps do not move them.
const never = time.Duration(math.MaxInt64)

// mark is an answered call that still counts.
type mark struct {
	leaves time.Duration
	items  int
}

// window counts answered calls until one length after their answer. Calls in
// the air are its owner's to add: they leave at no known time.
type window struct {
	limit  int
	length time.Duration
	marks  []mark // ordered by leaves
	used   int    // sum of the marks
}

// add counts items answered at the instant at, which never goes back.
func (w *window) add(at time.Duration, items int) {
	w.marks = append(w.marks, mark{leaves: at + w.length, items: items})
	w.used += items
}

// expire forgets what has left by now.
func (w *window) expire(now time.Duration) {
	n := 0
	for n < len(w.marks) && w.marks[n].leaves <= now {
		w.used -= w.marks[n].items
		n++
	}
	w.marks = slices.Delete(w.marks, 0, n)
}

// fits returns when items more fit beside open items in the air: now or earlier
// marks' leaving, never if only an answer can make room. More items than the
// limit fit into an empty window.
func (w *window) fits(now time.Duration, open, items int) time.Duration {
	excess := open + w.used + min(items, w.limit) - w.limit
	if excess <= 0 {
		return now
	}
	for _, m := range w.marks {
		if excess -= m.items; excess <= 0 {
			return max(now, m.leaves)
		}
	}
	return never
}

// empties returns when the last mark leaves, 0 for an empty window.
func (w *window) empties() time.Duration {
	if len(w.marks) == 0 {
		return 0
	}
	return w.marks[len(w.marks)-1].leaves
}

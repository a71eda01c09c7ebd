package limiter

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// never is the instant of something that waits for an event, not for a time.
// Instants are durations since New, so that wall-clock steps do not move them.
const never = time.Duration(math.MaxInt64)

// mark is an answered call that still counts.
type mark struct {
	at    time.Duration
	items int
}

// window counts answered calls until one length after their answer; a learned
// share makes it longer. Calls in the air are its owner's to add: they leave at
// no known time.
type window struct {
	lesson
	limit  int
	length time.Duration
	marks  []mark // ordered by time
	used   int    // sum of the marks
}

// add counts items answered at the instant at, which never goes back.
func (w *window) add(at time.Duration, items int) {
	w.marks = append(w.marks, mark{at: at, items: items})
	w.used += items
}

// expire forgets what has left by now.
func (w *window) expire(now time.Duration) {
	n, span := 0, w.stretch(now, w.length)
	for n < len(w.marks) && w.marks[n].at+span <= now {
		w.used -= w.marks[n].items
		n++
	}
	w.marks = w.marks[n:]
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
			return max(now, m.at+w.stretch(now, w.length))
		}
	}
	return never
}

// empties returns when the last mark leaves at the present share, 0 for an empty
// window.
func (w *window) empties(now time.Duration) time.Duration {
	if len(w.marks) == 0 {
		return 0
	}
	return w.marks[len(w.marks)-1].at + w.stretch(now, w.length)
}

// absorb takes the marks of another window over.
func (w *window) absorb(other *window) {
	w.marks = append(w.marks, other.marks...)
	slices.SortStableFunc(w.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	w.used += other.used
}

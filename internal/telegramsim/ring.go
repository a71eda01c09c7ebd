package telegramsim

// ring keeps the newest entries of a log; the oldest leave first.
type ring[T any] struct {
	entries []*T
	start   int // of the oldest entry, once the ring is full
}

// add enters an entry into a ring of at most so many.
func (r *ring[T]) add(entry *T, most int) {
	if len(r.entries) < most {
		r.entries = append(r.entries, entry)
		return
	}
	r.entries[r.start] = entry
	r.start = (r.start + 1) % most
}

// at is the i-th entry, counted from the oldest.
func (r *ring[T]) at(i int) *T { return r.entries[(r.start+i)%len(r.entries)] }

// last copies the newest n entries, oldest first.
func (r *ring[T]) last(n int) []T {
	n = min(n, len(r.entries))
	list := make([]T, 0, n)
	for i := len(r.entries) - n; i < len(r.entries); i++ {
		list = append(list, *r.at(i))
	}
	return list
}

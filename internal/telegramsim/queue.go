package telegramsim

import (
	"slices"
	"time"
)

// The caps of tdlib's TQueue.cpp (push) and, for an answer, of Client.cpp
// (JsonUpdates).
const (
	maxQueued      = 100_000
	maxUpdateBytes = 512 << 10
	maxAnswerBytes = 4 << 20
)

// queue holds updates until they are confirmed. Ids are those of tdlib's
// TQueue: next is the id the following update gets.
type queue struct {
	items []queued // by id, upwards, with gaps
	next  int64
	// confirmed never goes back, save in RestartIDs.
	confirmed int64
	// allowed are the update kinds wanted; nil means Telegram's default.
	allowed []string
	// strays are updates a test pushed with an id the queue had already passed.
	// They are served after the others and leave once they were served and a
	// poll names an offset above their id.
	strays []queued
	// recent are the last updates a webhook confirmed, oldest first.
	recent []queued
	// serial numbers updates as they come; a stray may bear the id of another update.
	serial int64
}

// queued is one update as it will be served, byte for byte.
type queued struct {
	ID      int64     `json:"id"`
	Raw     []byte    `json:"raw"`
	Expires time.Time `json:"expires"`
	Served  bool      `json:"served,omitempty"`

	serial int64
	// attempts counts the deliveries to a webhook, and unanswered those of them whose
	// receiver may still be at work.
	attempts, unanswered int
}

// push appends an update under the next id, or under id when it is not 0. It
// reports false when the queue is full or the update too large: the server
// drops such updates without a word.
func (q *queue) push(id int64, raw []byte, expires time.Time) bool {
	if len(raw) > maxUpdateBytes || len(q.items)+len(q.strays) >= maxQueued {
		return false
	}
	if id == 0 {
		id = q.next
	}
	item := queued{ID: id, Raw: raw, Expires: expires, serial: q.serial}
	q.serial++
	if id < q.next {
		q.strays = append(q.strays, item)
		return true
	}
	q.next = id + 1
	q.items = append(q.items, item)
	return true
}

// fetch confirms by offset and returns at most limit updates, as
// TQueue::get with its sanity checks does:
//   - a negative offset forgets all but that many;
//   - an offset more than 10 beyond the next id, or 100 000 before the head, is
//     ignored;
//   - any other positive one forgets every update below it.
func (q *queue) fetch(offset int64, limit int, now time.Time) [][]byte {
	switch {
	case offset < 0:
		q.keepLast(int(-max(offset, -maxQueued)))
	case offset > 0 && offset <= q.next+10 && offset >= q.head()-maxQueued:
		q.forget(offset)
	}
	q.dropExpired(now)
	return q.serve(limit)
}

// serve marks and returns updates from the head, never more than about 4 MiB of
// them but always one: fewer than limit does not mean that the queue is empty.
func (q *queue) serve(limit int) [][]byte {
	var out [][]byte
	size := 0
	take := func(list []queued) {
		for i := range list {
			if len(out) == limit || (len(out) > 0 && size+len(list[i].Raw) > maxAnswerBytes) {
				return
			}
			size += len(list[i].Raw)
			list[i].Served = true
			out = append(out, list[i].Raw)
		}
	}
	take(q.items)
	take(q.strays)
	return out
}

// head is the lowest id queued, or the next id when there is none.
func (q *queue) head() int64 {
	if len(q.items) == 0 {
		return q.next
	}
	return q.items[0].ID
}

// forget confirms every update below offset. An offset beyond the tail confirms up
// to the tail only: ids nobody has yet cannot be confirmed.
func (q *queue) forget(offset int64) {
	cut, _ := slices.BinarySearchFunc(q.items, offset, func(item queued, id int64) int { return int(item.ID - id) })
	q.items = q.items[cut:]
	q.strays = slices.DeleteFunc(q.strays, func(item queued) bool { return item.Served && item.ID < offset })
	q.confirmed = max(q.confirmed, min(offset, q.next))
}

// keepLast forgets all but the last n updates: offset -1 throws away a backlog, and
// does not just look at its end.
func (q *queue) keepLast(n int) {
	if n >= len(q.items) {
		return
	}
	q.forget(q.items[len(q.items)-n].ID)
}

// dropExpired removes what is too old to be delivered. Expired updates are not
// counted as confirmed.
func (q *queue) dropExpired(now time.Time) {
	old := func(item queued) bool { return !now.Before(item.Expires) }
	if slices.ContainsFunc(q.items, old) {
		q.items = slices.DeleteFunc(q.items, old)
	}
	if slices.ContainsFunc(q.strays, old) {
		q.strays = slices.DeleteFunc(q.strays, old)
	}
}

// firstID picks where ids start, in the range TQueue uses for a new queue.
func (s *Sim) firstID() int64 {
	return 2_000_000 + s.rng.Int64N(998_000_000)
}

// RestartIDs drops what is queued and goes on from another random id, lower or
// higher, as Telegram does after a week without updates.
func (s *Sim) RestartIDs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	hook := s.hook
	s.closeWebhook()
	q := &s.queue
	q.items, q.strays, q.next = nil, nil, s.firstID()
	q.confirmed = q.next
	s.openWebhook(hook)
	s.changed()
}

// Confirmed is the offset up to which updates are confirmed: every update with
// a lower id was confirmed or expired. It starts at the first id. A webhook confirms
// out of order: this is then the id of the oldest update that still waits.
func (s *Sim) Confirmed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.confirmed
}

// Pending is the number of updates that are neither confirmed nor expired.
func (s *Sim) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.dropExpired(time.Now())
	return len(s.queue.items) + len(s.queue.strays)
}

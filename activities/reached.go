package activities

import (
	"context"
	"sync"
)

// reachedKept is how many batches that have ended are remembered: those that leave
// somebody in doubt ran when Temporal could not be reached any more.
const reachedKept = 200

// reached keeps what this process's batches came to. While Temporal cannot be
// reached that cannot be written, and recipients are in doubt for it: those to whom
// a request has left, and those who were marked and never got their turn.
type reached struct {
	mu      sync.Mutex
	byBatch map[string]*reaching
	ended   []string // the oldest first
}

type reaching struct {
	byChat map[string]*entry // which nobody changes once done is closed
	done   chan struct{}
}

// begin tells that a batch is about to make calls. End is called when it makes
// none any more.
func (r *reached) begin(batch string, entries []*entry) (end func()) {
	mine := &reaching{byChat: make(map[string]*entry, len(entries)), done: make(chan struct{})}
	for _, e := range entries {
		mine.byChat[e.Chat] = e
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byBatch == nil {
		r.byBatch = map[string]*reaching{}
	}
	r.byBatch[batch] = mine
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(mine.done)
		r.keep(batch)
	}
}

// keep forgets the oldest of too many.
func (r *reached) keep(batch string) {
	r.ended = append(r.ended, batch)
	if len(r.ended) > reachedKept {
		delete(r.byBatch, r.ended[0])
		r.ended = r.ended[1:]
	}
}

// find waits for a batch to end, and returns what it came to for a recipient, nil
// if that was in another process, or ctx ends.
func (r *reached) find(ctx context.Context, batch, chat string) *entry {
	r.mu.Lock()
	there := r.byBatch[batch]
	r.mu.Unlock()
	if there == nil {
		return nil
	}
	select {
	case <-there.done:
		return there.byChat[chat]
	case <-ctx.Done():
		return nil
	}
}

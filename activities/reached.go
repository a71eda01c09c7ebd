package activities

import (
	"context"
	"sync"

	"github.com/durabot/durabot/internal/contract"
)

// reachedKept is how many outcomes are remembered: those that can be in doubt are
// of the batches that ran when Temporal could not be reached any more.
const reachedKept = 5000

// reached keeps the recipients of broadcasts to which this process makes calls, and
// how the last of them ended. While Temporal cannot be reached that cannot be
// written, and the recipients are in doubt for it.
type reached struct {
	mu     sync.Mutex
	byChat map[string]*reaching
	ended  []string // the oldest first
}

type reaching struct {
	done   chan struct{}
	result contract.RecipientResult
	final  bool
}

// begin tells that a call is being made. End is called with how it ended.
func (r *reached) begin(recipient string) (end func(res contract.RecipientResult, final bool)) {
	mine := &reaching{done: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byChat == nil {
		r.byChat = map[string]*reaching{}
	}
	r.byChat[recipient] = mine
	return func(res contract.RecipientResult, final bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		mine.result, mine.final = res, final
		close(mine.done)
		r.keep(recipient)
	}
}

// keep forgets the oldest of too many. One of which another call is being made by
// now stays.
func (r *reached) keep(recipient string) {
	r.ended = append(r.ended, recipient)
	if len(r.ended) <= reachedKept {
		return
	}
	oldest := r.ended[0]
	r.ended = r.ended[1:]
	if there := r.byChat[oldest]; there != nil {
		select {
		case <-there.done:
			delete(r.byChat, oldest)
		default:
		}
	}
}

// find waits for the call to a recipient that is being made, if one is, and returns
// how the last one ended for good.
func (r *reached) find(ctx context.Context, recipient string) (contract.RecipientResult, bool) {
	r.mu.Lock()
	last := r.byChat[recipient]
	r.mu.Unlock()
	if last == nil {
		return contract.RecipientResult{}, false
	}
	select {
	case <-last.done:
		return last.result, last.final
	case <-ctx.Done():
		return contract.RecipientResult{}, false
	}
}

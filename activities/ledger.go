package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// feedEvery is how often a running send shows its ledger to the server, a third
// of the heartbeat timeout. A call that ends sooner writes nothing.
const feedEvery = 5 * time.Second

// Recorder is the part of a Temporal client that writes a heartbeat at once.
// activity.RecordHeartbeat will not do: it buffers all but the first of an
// attempt and drops the error (measured with SDK 1.51).
type Recorder interface {
	RecordActivityHeartbeat(ctx context.Context, taskToken []byte, details ...any) error
}

// book is one attempt's ledger and the way to write it. The entries are always
// written whole and in order.
type book struct {
	recorder Recorder
	token    []byte

	mu     sync.Mutex
	ledger contract.Ledger
}

// openBook reads what earlier attempts left. An attempt that ended without a
// word has vanished with its process: that is a failure, and the call may have
// been sent.
func (s *Sender) openBook(ctx context.Context, info activity.Info, in contract.SendInput) *book {
	b := &book{recorder: s.Recorder, token: info.TaskToken}
	var before int32
	if in.Ledger != nil {
		b.ledger = *in.Ledger
		b.ledger.Attempt = 0
	}
	if activity.HasHeartbeatDetails(ctx) {
		var l contract.Ledger
		if activity.GetHeartbeatDetails(ctx, &l) == nil {
			b.ledger, before = l, l.Attempt
		}
	}
	if vanished := info.Attempt - 1 - before; vanished > 0 {
		b.ledger.Failures += int(vanished)
		// An at-most-once request is marked before it leaves; without the mark it did not.
		b.ledger.PossibleDuplicate = b.ledger.PossibleDuplicate || in.Call.Delivery != contract.AtMostOnce
	}
	return b
}

// entries returns a copy of the ledger.
func (b *book) entries() contract.Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ledger
}

// write changes the ledger and makes it durable. On an error the change stands
// in memory only, and what depends on its durability must not happen.
func (b *book) write(ctx context.Context, change func(*contract.Ledger)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.ledger)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), feedEvery)
	defer cancel()
	return b.recorder.RecordActivityHeartbeat(ctx, b.token, b.ledger)
}

// fed feeds the server with the ledger until stop is called. The context it
// returns also ends when the server no longer waits for this attempt.
func (b *book) fed(ctx context.Context) (fed context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() { defer close(done); b.feed(ctx, cancel) }()
	return ctx, func() { cancel(nil); <-done }
}

// feed writes the ledger until ctx ends, and calls lost when the server no
// longer waits for this attempt.
func (b *book) feed(ctx context.Context, lost func(error)) {
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := b.write(ctx, func(*contract.Ledger) {})
		var cancelled *temporal.CanceledError
		if errors.As(err, &cancelled) || closed(err) {
			lost(err)
			return
		}
	}
}

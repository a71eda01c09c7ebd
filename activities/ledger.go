package activities

import (
	"context"
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
	// What the answer to a heartbeat may end: the attempt, or only the wish for it.
	lose, unwant context.CancelCauseFunc

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
// in memory only, and what depends on its durability must not happen: a cancel is
// told by an error, too.
func (b *book) write(ctx context.Context, change func(*contract.Ledger)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.ledger)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), feedEvery)
	defer cancel()
	err := b.recorder.RecordActivityHeartbeat(ctx, b.token, b.ledger)
	switch {
	case temporal.IsCanceledError(err):
		b.unwant(err)
	case closed(err):
		b.lose(err)
	}
	return err
}

// fed feeds the server with the ledger until stop is called. Held ends when the
// server no longer waits for this attempt. Wanted ends also when the call is
// cancelled: what has left by then is fed for, so that its outcome can be told.
func (b *book) fed(ctx context.Context) (held, wanted context.Context, stop func()) {
	held, b.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	wanted, b.unwant = context.WithCancelCause(held)
	unhook := context.AfterFunc(ctx, func() {
		end := b.lose
		if cancelled(ctx) {
			end = b.unwant
		}
		end(context.Cause(ctx))
	})
	var feeding sync.WaitGroup
	feeding.Go(func() { b.feed(held) })
	return held, wanted, func() {
		unhook()
		b.lose(nil)
		feeding.Wait()
	}
}

// feed writes the ledger until ctx ends.
func (b *book) feed(ctx context.Context) {
	tick := time.NewTicker(feedEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = b.write(ctx, func(*contract.Ledger) {}) // the next one tries again
	}
}

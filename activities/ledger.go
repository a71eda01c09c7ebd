package activities

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
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

// journal is the ledger of one attempt and the way to write it. The ledger is
// always written whole and in order.
type journal[L any] struct {
	recorder Recorder
	token    []byte
	// What the answer to a heartbeat may end: the attempt, or only the wish for it.
	lose, unwant context.CancelCauseFunc

	mu     sync.Mutex
	ledger L
}

// entries returns a copy of the ledger.
func (j *journal[L]) entries() L {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ledger
}

// remember changes the ledger in memory only.
func (j *journal[L]) remember(note func(*L)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	note(&j.ledger)
}

// write changes the ledger and makes it durable. On an error the change stands
// in memory only, and what depends on its durability must not happen: a cancel is
// told by an error, too.
func (j *journal[L]) write(ctx context.Context, change func(*L)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.ledger)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), feedEvery)
	defer cancel()
	err := j.recorder.RecordActivityHeartbeat(ctx, j.token, j.ledger)
	switch {
	case temporal.IsCanceledError(err):
		j.unwant(err)
	case closed(err):
		j.lose(err)
	}
	return err
}

// fed feeds the server with the ledger, every so often, until stop is called. Held
// ends when the server no longer waits for this attempt. Wanted ends also when the
// activity is cancelled: what has left by then is fed for, so that its outcome can
// be told.
func (j *journal[L]) fed(ctx context.Context, every time.Duration) (held, wanted context.Context, stop func()) {
	held, j.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	wanted, j.unwant = context.WithCancelCause(held)
	unhook := context.AfterFunc(ctx, func() {
		end := j.lose
		if cancelled(ctx) {
			end = j.unwant
		}
		end(context.Cause(ctx))
	})
	var feeding sync.WaitGroup
	feeding.Go(func() { j.feed(held, every) })
	return held, wanted, func() {
		unhook()
		j.lose(nil)
		feeding.Wait()
	}
}

// feed writes the ledger until ctx ends.
func (j *journal[L]) feed(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_ = j.write(ctx, func(*L) {}) // the next one tries again
	}
}

// notes is where a try finds and leaves what is known of its call.
type notes interface {
	// entries returns a copy of the ledger.
	entries() contract.Ledger
	// remember changes it in memory only, write where it outlives the process.
	remember(note func(*contract.Ledger))
	write(ctx context.Context, change func(*contract.Ledger)) error
	// depart makes it durable, where that matters, that a request may be under way.
	depart(ctx context.Context) error
}

// book is the journal of one call.
type book struct {
	journal[contract.Ledger]
	// marks is set for a call that may not be made twice.
	marks bool
}

// openBook reads what earlier attempts left. An attempt that ended without a
// word has vanished with its process: that is a failure, and the call may have
// been sent.
func (s *Sender) openBook(ctx context.Context, info activity.Info, in contract.SendInput) *book {
	b := &book{marks: in.Call.Delivery == contract.AtMostOnce && !telegram.Lookup(in.Call.Method).Repeatable}
	b.recorder, b.token = s.Recorder, info.TaskToken
	if in.Ledger != nil {
		b.ledger = *in.Ledger
		b.ledger.Attempt = 0
	}
	if activity.HasHeartbeatDetails(ctx) {
		var l contract.Ledger
		if activity.GetHeartbeatDetails(ctx, &l) == nil {
			b.ledger = l
		}
	}
	if vanished := vanished(b.ledger, info.Attempt); vanished > 0 {
		b.ledger.Failures += vanished
		// An at-most-once request is marked before it leaves; without the mark it did not.
		b.ledger.PossibleDuplicate = b.ledger.PossibleDuplicate || in.Call.Delivery != contract.AtMostOnce
	}
	return b
}

// vanished is how many attempts before this one have ended without a word.
func vanished(l contract.Ledger, attempt int32) int { return int(attempt - 1 - l.Attempt) }

// depart marks a request that may not be made twice.
func (b *book) depart(ctx context.Context) error {
	if !b.marks {
		return nil
	}
	return b.write(ctx, func(l *contract.Ledger) { l.InFlight = true })
}

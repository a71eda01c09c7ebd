package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// widest is how many recipients of a batch are tried at once, and so what a
	// crash can leave unknown of it.
	widest = 10
	// narrowest is how many are where the budget is short: one is in the air while
	// the next waits for its turn.
	narrowest = 2
	// quick is how short a wait for the budget is that says that more recipients of
	// a batch could be tried at once.
	quick = 50 * time.Millisecond
	// heldMost is the longest that a batch waits for a single recipient.
	heldMost = 30 * time.Second
	// batchFeed is how often a batch shows its ledger to the server, and so how soon
	// it hears that it is cancelled.
	batchFeed = time.Second
)

// What ends a batch before all of its recipients have an outcome.
var (
	errStopping = errors.New("the process stops")
	errTrouble  = errors.New("nobody else should be tried")
)

// SendBatch makes one call to each of the recipients. It is tried once: who has no
// outcome when it ends, in whatever way, is batched again, with what its ledger
// says. Run twice all the same, each would make the calls that the ledger of
// neither shows.
//
// Recipients to whom an earlier batch may have made the call, its ledger says, are
// in no doubt if that batch was of this process, even if what became of them could
// not be written while Temporal was away. To the others an at-most-once call is not
// made; any other is, and is flagged.
//
// What has to wait for more than 30 s, or for longer than the batch may take, is
// left. Cancelled, or told to stop, it lets nobody wait any more, awaits the
// requests that have left, and returns what is done.
func (s *Sender) SendBatch(ctx context.Context, in contract.BatchInput) (contract.BatchResult, error) {
	b, err := s.openBatch(activity.GetInfo(ctx), in)
	if err != nil {
		nobody := contract.BatchLedger{Attempt: 1} // whom it sent to
		return contract.BatchResult{}, temporal.NewNonRetryableApplicationError(err.Error(), contract.FailureRejected, nil, nobody)
	}
	defer b.answers.reached.begin(b.ledger.Batch, b.open)()
	held, wanted, stop := b.fed(ctx, batchFeed)
	defer stop()
	why := b.run(ctx, wanted)
	if held.Err() != nil {
		return contract.BatchResult{}, held.Err() // nobody listens
	}
	return b.result(why), nil
}

// batch is one SendBatch. Only the goroutine of run changes it.
type batch struct {
	*Sender
	journal[contract.BatchLedger]
	info activity.Info
	in   contract.BatchInput
	fill filler
	flow *flow
	// open are the recipients that wait to be tried, in their order, and left those
	// that will not be tried in this batch.
	open, left []*entry
	inAir      int
	ended      chan *entry
	// width is how many may be tried at once.
	width int
}

// run tries the recipients until each has an outcome or cannot get one here, and
// says what ended it early, nil for nothing.
func (b *batch) run(ctx, wanted context.Context) error {
	going, end := context.WithCancelCause(wanted)
	defer end(nil)
	tripped := b.flow.watch()
	expired := time.NewTimer(waitMost)
	defer expired.Stop()
	for {
		next, more := b.launch(going)
		if b.inAir == 0 && !more {
			return context.Cause(going)
		}
		select {
		case e := <-b.ended:
			b.settle(going, e)
		case <-next:
		case <-activity.GetWorkerStopChannel(ctx):
			end(errStopping)
			b.await(going)
		case <-tripped:
			end(errTrouble)
			b.await(going)
		case <-expired.C:
			end(context.DeadlineExceeded)
			b.await(going)
		case <-going.Done():
			b.await(going)
		}
	}
}

// await waits for those that are being tried.
func (b *batch) await(ctx context.Context) {
	for b.inAir > 0 {
		b.settle(ctx, <-b.ended)
	}
}

// launch lets as many go as may, and reports whether there are more to go: when
// next tells, or an answer comes. Several are marked at once, with one write, for
// which it waits until most places are free; where the budget is short each is
// marked when it has its grant, so that a crash leaves little unknown.
func (b *batch) launch(ctx context.Context) (next <-chan time.Time, more bool) {
	room := b.width - b.inAir
	if ctx.Err() != nil || len(b.open) == 0 {
		return nil, false
	}
	if room <= 0 || b.inAir > 0 && room < b.width*3/4 {
		return nil, true
	}
	now, due := time.Now(), b.due(room)
	if len(due) == 0 {
		return time.After(b.soonest().Sub(now)), true
	}
	if b.width > narrowest && len(due) > 1 && b.mark(ctx, due) != nil {
		b.width, due = narrowest, due[:1]
	}
	for _, e := range due {
		b.start(ctx, e)
	}
	return nil, true
}

// due are the first recipients that need not wait any more, n at most.
func (b *batch) due(n int) (due []*entry) {
	now := time.Now()
	for _, e := range b.open {
		if len(due) < n && !e.notBefore.After(now) {
			due = append(due, e)
		}
	}
	return due
}

// soonest is when the next of those that wait may be tried.
func (b *batch) soonest() time.Time {
	at := b.open[0].notBefore
	for _, e := range b.open[1:] {
		if e.notBefore.Before(at) {
			at = e.notBefore
		}
	}
	return at
}

// result is what the batch has come to.
func (b *batch) result(why error) contract.BatchResult {
	res := contract.BatchResult{Results: b.entries().Results}
	for _, e := range append(b.left, b.open...) {
		res.Left = append(res.Left, e.addressee())
	}
	if errors.Is(why, errTrouble) {
		res.Trouble = b.flow.trouble()
	}
	return res
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// partsGoing is how many parts of a broadcast go at a time, and partsGoingBefore
// how many without threeParts. A part whose recipients merely wait is none of them.
const (
	partsGoing       = 3
	partsGoingBefore = 2
)

// BroadcastWorkflow lets the parts of a broadcast go, three at a time, and tells them
// what people want (contract.OrderSignal). It holds no recipient: its parts were
// started before it, and tell it how many ended how (contract.PartSignal). It shows
// its state in the memo, and completes with it when every part that was let go
// has ended, also when it was cancelled. CancelWorkflow does what a cancel order
// does.
func BroadcastWorkflow(ctx workflow.Context, in contract.BroadcastInput) (contract.BroadcastState, error) {
	b := newBroadcast(ctx, in)
	rest, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	for {
		b.read(ctx)
		b.advance(rest)
		b.show(rest)
		switch {
		case b.over():
			return b.state, nil
		case b.settled() && long(ctx):
			// Both channels are empty: nothing was waited for since they were read.
			return b.state, workflow.NewContinueAsNewError(ctx, contract.BroadcastWorkflow, b.rest())
		}
		b.wait(ctx, rest)
	}
}

// broadcast is the state of one BroadcastWorkflow.
type broadcast struct {
	board
	alarm
	in    contract.BroadcastInput
	state contract.BroadcastState
	// open are the parts that were let go and have not ended, by number, and next
	// the number of the first that was never let go.
	open []*openPart
	next int
	// dismissed are the cancels on their way to parts that were never let go.
	dismissed []workflow.Future
	// askAt is when the open parts are told again, zero while there is none.
	askAt           time.Time
	orders, reports workflow.ReceiveChannel
}

func newBroadcast(ctx workflow.Context, in contract.BroadcastInput) *broadcast {
	b := &broadcast{
		in: in, state: in.State, next: max(1, in.Next),
		orders:  workflow.GetSignalChannel(ctx, contract.OrderSignal),
		reports: workflow.GetSignalChannel(ctx, contract.PartSignal),
	}
	if in.Next == 0 {
		b.state.Phase = b.free(workflow.Now(ctx))
		return b
	}
	b.board = shownBefore(in.State, string(in.State.Phase))
	for _, r := range in.Open {
		b.open = append(b.open, &openPart{report: r, waits: r.Counts.Sum() > 0, told: b.word()})
	}
	return b
}

// rest is what the next run starts with. Nothing is on its way to a part then.
func (b *broadcast) rest() contract.BroadcastInput {
	in := b.in
	in.State, in.Next, in.Open = b.state, b.next, nil
	for _, p := range b.open {
		in.Open = append(in.Open, p.report)
	}
	return in
}

// read takes in what was signalled. Reports come first: a resume that comes with
// one of trouble means that trouble, too.
func (b *broadcast) read(ctx workflow.Context) {
	now := workflow.Now(ctx)
	for _, r := range received[contract.PartReport](b.reports) {
		b.hear(now, r)
	}
	for _, o := range received[contract.BroadcastOrder](b.orders) {
		b.act(now, o)
	}
	if ctx.Err() != nil {
		b.act(now, contract.BroadcastOrder{What: contract.BroadcastCancel, Reason: "the workflow was cancelled"})
	}
}

// advance does what is to be done now.
func (b *broadcast) advance(ctx workflow.Context) {
	now := workflow.Now(ctx)
	b.delivered(ctx)
	if b.moving() {
		b.state.Phase = b.free(now)
	}
	b.askAgain(ctx)
	b.letGo(ctx)
	b.tellAll(ctx)
	b.dismiss(ctx)
	if b.next > len(b.in.Sizes) && len(b.open)+len(b.dismissed) == 0 {
		b.end(now)
	}
}

// end closes the books. What was cancelled stays cancelled.
func (b *broadcast) end(now time.Time) {
	if b.state.Phase != contract.BroadcastCancelled {
		b.enter(contract.BroadcastDone, now)
	}
	b.state.EndedAt = now
}

func (b *broadcast) over() bool { return !b.state.EndedAt.IsZero() }

func (b *broadcast) show(ctx workflow.Context) {
	b.state.Running = nil
	for _, p := range b.open {
		b.state.Running = append(b.state.Running, p.report.Part)
	}
	b.board.show(ctx, b.state)
	if b.in.Attributes {
		b.showOutcome(ctx, string(b.state.Phase))
	}
}

// wait returns when there is something to read or to do.
func (b *broadcast) wait(ctx, rest workflow.Context) {
	if b.state.Phase == contract.BroadcastScheduled {
		b.set(rest, b.in.At, "until it may begin")
	} else {
		b.set(rest, b.askAt, "until its parts are told again")
	}
	_ = workflow.Await(rest, func() bool { // only a cancel is an error, and this one cannot be
		return b.rings() || b.orders.Len()+b.reports.Len() > 0 || b.anyDelivered() ||
			ctx.Err() != nil && b.state.Phase != contract.BroadcastCancelled
	})
}

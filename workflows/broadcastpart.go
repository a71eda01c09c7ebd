package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// BroadcastPartWorkflow reaches some of the recipients of a broadcast, in batches,
// from when it is let go (contract.OrderSignal), and returns how each of them
// ended. One that is never let go, or is cancelled before, ends without a word to
// its broadcast. It shows its counts in the memo, and answers
// contract.ResultsQuery. CancelWorkflow does what a cancel order does.
func BroadcastPartWorkflow(ctx workflow.Context, in contract.PartInput) (contract.PartResult, error) {
	p := newPart(ctx, in)
	if err := workflow.SetQueryHandler(ctx, contract.ResultsQuery, p.result); err != nil {
		return contract.PartResult{}, err
	}
	rest, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	for {
		p.read(ctx)
		p.collect(rest)
		p.begin(rest)
		p.show(rest)
		p.report(rest)
		switch {
		case p.over():
			return p.result()
		case len(p.batches) == 0 && long(ctx) && p.orders.Len() == 0 && !p.mustEnd(ctx):
			return contract.PartResult{}, workflow.NewContinueAsNewError(ctx, contract.BroadcastPartWorkflow, p.rest())
		}
		p.wait(ctx, rest)
	}
}

// part is the state of one BroadcastPartWorkflow. A recipient is in a batch, left,
// or among the results.
type part struct {
	board
	alarm
	sheet
	in    contract.PartInput
	phase contract.BroadcastPhase
	// silent is set for a part that was cancelled before it was let go.
	silent  bool
	left    []contract.Addressee
	batches []*batch
	// hold is when a batch may begin after one that failed, and failures how many
	// failed in a row.
	hold     time.Time
	failures int
	// trouble is what the broadcast is to be told, "" for nothing. Orphan is set when
	// there is none to be told any more.
	trouble string
	orphan  bool
	orders  workflow.ReceiveChannel
}

func newPart(ctx workflow.Context, in contract.PartInput) *part {
	p := &part{
		in: in, phase: in.Phase, left: in.Recipients,
		orders: workflow.GetSignalChannel(ctx, contract.OrderSignal),
	}
	for _, r := range in.Results {
		p.add(r)
	}
	p.board = shownBefore(p.state(), "")
	return p
}

// rest is what the next run starts with. No batch is open then.
func (p *part) rest() contract.PartInput {
	in := p.in
	in.Phase, in.Recipients, in.Results = p.phase, p.left, p.results
	return in
}

// read takes in what was ordered.
func (p *part) read(ctx workflow.Context) {
	for _, o := range received[contract.BroadcastOrder](p.orders) {
		p.obey(o.What)
	}
	if p.mustEnd(ctx) {
		p.obey(contract.BroadcastCancel)
	}
}

// mustEnd reports whether the part is to be cancelled without an order: for
// CancelWorkflow, when its broadcast is gone, since nobody could pause or cancel
// it, and when it was not let go in time, since its broadcast was never started.
func (p *part) mustEnd(ctx workflow.Context) bool {
	forgotten := p.phase == "" && !workflow.Now(ctx).Before(p.in.Until)
	return p.phase != contract.BroadcastCancelled && (forgotten || p.orphan || ctx.Err() != nil)
}

// obey does what is wanted. One that hears again that it may go says again that
// it merely waits, if that is so.
func (p *part) obey(what string) {
	running, paused := p.phase == contract.BroadcastRunning, p.phase == contract.BroadcastPaused
	switch {
	case what == contract.PartGo && p.phase == "":
		p.phase = contract.BroadcastRunning
	case what == contract.PartGo:
		p.in.Told = false
	case what == contract.BroadcastPause && running:
		p.pause()
	case what == contract.BroadcastResume && paused:
		p.phase = contract.BroadcastRunning
	case what == contract.BroadcastCancel && p.phase != contract.BroadcastCancelled:
		p.silent = p.phase == ""
		p.phase = contract.BroadcastCancelled
		p.stopBatches()
	}
}

// pause stops the batches. What they have not done is left.
func (p *part) pause() {
	p.phase = contract.BroadcastPaused
	p.stopBatches()
}

// collect takes in the batches that have ended. When the part is cancelled, what
// is left ends with them.
func (p *part) collect(ctx workflow.Context) {
	var open []*batch
	for _, b := range p.batches {
		if b.future.IsReady() {
			p.take(ctx, b)
		} else {
			open = append(open, b)
		}
	}
	p.batches = open
	if p.phase == contract.BroadcastCancelled {
		p.giveUp(workflow.Now(ctx))
	}
	if p.phase != contract.BroadcastCancelled && p.over() {
		p.phase = contract.BroadcastDone
	}
}

// over reports whether every recipient has an outcome.
func (p *part) over() bool { return len(p.left)+len(p.batches) == 0 }

// result is how the recipients ended so far.
func (p *part) result() (contract.PartResult, error) {
	res := contract.PartResult{Counts: p.counts, Results: p.results}
	for _, b := range p.batches {
		res.Left = append(res.Left, chats(b.recipients)...)
	}
	res.Left = append(res.Left, chats(p.left)...)
	return res, nil
}

func chats(recipients []contract.Addressee) []string {
	var all []string
	for _, a := range recipients {
		all = append(all, a.Chat)
	}
	return all
}

func (p *part) state() contract.PartState {
	total := len(p.in.Recipients) + len(p.in.Results)
	return contract.PartState{Phase: p.phase, Total: total, Counts: p.counts}
}

func (p *part) show(ctx workflow.Context) { p.board.show(ctx, p.state()) }

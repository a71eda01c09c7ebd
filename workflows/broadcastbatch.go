package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// batchMost is how many recipients a batch has, and batchesMost how many batches
	// of a part are open at once.
	batchMost   = 100
	batchesMost = 5
	// gather is the least wait for recipients that are held back, so that those
	// whose times lie close together make one batch.
	gather = 5 * time.Second
	// holdFirst and holdMost bound the wait after batches that failed.
	holdFirst = 3 * time.Second
	holdMost  = time.Minute
)

// batch is one SendBatch.
type batch struct {
	recipients []contract.Addressee
	future     workflow.Future
	cancel     workflow.CancelFunc
}

// begin starts batches of those who need not wait.
func (p *part) begin(ctx workflow.Context) {
	now := workflow.Now(ctx)
	if p.phase != contract.BroadcastRunning || now.Before(p.hold) || long(ctx) {
		return
	}
	for len(p.batches) < batchesMost {
		recipients := p.pick(now)
		if len(recipients) == 0 {
			return
		}
		p.batches = append(p.batches, p.send(ctx, recipients))
	}
}

// pick takes the recipients of a batch from those that are left. A batch that is
// not full begins only when no other is open: then nobody is left who could fill
// it soon.
func (p *part) pick(now time.Time) []contract.Addressee {
	var picked, others []contract.Addressee
	for _, a := range p.left {
		if len(picked) < batchMost && !a.NotBefore.After(now) {
			picked = append(picked, a)
		} else {
			others = append(others, a)
		}
	}
	if len(picked) < batchMost && len(p.batches) > 0 {
		return nil
	}
	p.left = others
	return picked
}

func (p *part) send(ctx workflow.Context, recipients []contract.Addressee) *batch {
	in := contract.BatchInput{
		Broadcast: p.in.Name, Part: p.in.Part, Parts: p.in.Parts, What: p.in.What, Recipients: recipients,
		Deadline: workflow.Now(ctx).Add(p.in.What.Call.Lifetime()),
	}
	ctx, cancel := workflow.WithCancel(ctx)
	future := workflow.ExecuteActivity(batchOptions(ctx, p.in.BotID, in), contract.SendBatchActivity, in)
	return &batch{recipients: recipients, future: future, cancel: cancel}
}

// stopBatches makes the open batches return what they have done.
func (p *part) stopBatches() {
	for _, b := range p.batches {
		b.cancel()
	}
}

// take puts the recipients of a batch that has ended where they belong.
func (p *part) take(ctx workflow.Context, b *batch) {
	b.cancel() // frees it
	now := workflow.Now(ctx)
	var res contract.BatchResult
	err := b.future.Get(ctx, &res)
	if err == nil {
		p.settle(now, b.recipients, returned(res))
		p.troubled(res.Trouble)
		p.pace(now, len(res.Results) > 0)
		return
	}
	f := judged(err)
	p.settle(now, b.recipients, f)
	p.pace(now, false)
	if !f.known {
		p.troubled(unjudged)
	}
}

// troubled pauses the part, and has it tell the broadcast why.
func (p *part) troubled(why string) {
	if why == "" || p.phase == contract.BroadcastCancelled {
		return
	}
	p.trouble = why
	p.pause()
}

// pace holds the next batch back after one that failed, or reached nobody, though
// nobody had stopped it. Those that do so together count once.
func (p *part) pace(now time.Time, fruitful bool) {
	switch {
	case fruitful:
		p.failures = 0
	case p.phase == contract.BroadcastRunning && !now.Before(p.hold):
		p.hold = now.Add(min(holdFirst<<min(p.failures, 10), holdMost))
		p.failures++
	}
}

// wait returns when there is something to read or to do.
func (p *part) wait(ctx, rest workflow.Context) {
	at, why := p.next(rest)
	p.set(rest, at, why)
	_ = workflow.Await(rest, func() bool { // only a cancel is an error, and this one cannot be
		return p.rings() || p.orders.Len() > 0 || p.mustEnd(ctx) ||
			slices.ContainsFunc(p.batches, func(b *batch) bool { return b.future.IsReady() })
	})
}

// next is when there is something to do by the clock, zero for nothing.
func (p *part) next(ctx workflow.Context) (time.Time, string) {
	need := 1
	if len(p.batches) > 0 {
		need = batchMost
	}
	switch {
	case p.phase == "":
		return p.in.Until, "until it is given up"
	case p.phase != contract.BroadcastRunning || len(p.batches) == batchesMost || len(p.left) < need || long(ctx):
		return time.Time{}, ""
	}
	var times []time.Time
	for _, a := range p.left {
		times = append(times, a.NotBefore)
	}
	slices.SortFunc(times, time.Time.Compare)
	at := times[need-1]
	for _, least := range []time.Time{p.hold, workflow.Now(ctx).Add(gather)} {
		if at.Before(least) {
			at = least
		}
	}
	return at, "until the next batch"
}

package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// partsAskedEvery is how often open parts are told again: one that was
	// terminated says nothing, but cannot be told either.
	partsAskedEvery = 30 * time.Minute
	// dismissedMost bounds the signals on their way: a workflow may have 2,000.
	dismissedMost = 100
)

// tellAll sends the parts the orders that are due.
func (b *broadcast) tellAll(ctx workflow.Context) {
	for _, p := range b.open {
		if what := b.due(p); what != "" {
			b.tell(ctx, p, what)
		}
	}
}

// askAgain tells all parts from time to time what they have been told.
func (b *broadcast) askAgain(ctx workflow.Context) {
	now := workflow.Now(ctx)
	switch {
	case len(b.open) == 0:
		b.askAt = time.Time{}
	case b.askAt.IsZero():
		b.askAt = now.Add(partsAskedEvery)
	case !now.Before(b.askAt):
		b.askAt = now.Add(partsAskedEvery)
		for _, p := range b.open {
			if b.due(p) == "" {
				b.tell(ctx, p, b.word())
			}
		}
	}
}

func (b *broadcast) tell(ctx workflow.Context, p *openPart, what string) {
	if p.sending == nil {
		p.word, p.sending = what, b.order(ctx, p.report.Part, what)
	}
}

func (b *broadcast) order(ctx workflow.Context, part int, what string) workflow.Future {
	id := contract.PartID(b.in.BotID, b.in.Name, part)
	order := contract.BroadcastOrder{What: what, At: workflow.Now(ctx)}
	return workflow.SignalExternalWorkflow(ctx, id, "", contract.OrderSignal, order)
}

// delivered takes in which orders have arrived. A part that cannot be told has
// ended without a word, for its last one would have been read before this.
func (b *broadcast) delivered(ctx workflow.Context) {
	for _, p := range slices.Clone(b.open) {
		if p.sending == nil || !p.sending.IsReady() {
			continue
		}
		if err := p.sending.Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("a part cannot be told: what it did not report is uncertain", "part", p.report.Part, "error", err)
			b.lose(p)
			continue
		}
		p.told, p.sending = p.word, nil
	}
	b.dismissed = slices.DeleteFunc(b.dismissed, workflow.Future.IsReady)
}

func (b *broadcast) anyDelivered() bool {
	return slices.ContainsFunc(b.dismissed, workflow.Future.IsReady) ||
		slices.ContainsFunc(b.open, func(p *openPart) bool { return p.sending != nil && p.sending.IsReady() })
}

// settled reports whether nothing is on its way to a part.
func (b *broadcast) settled() bool {
	return len(b.dismissed) == 0 && !slices.ContainsFunc(b.open, func(p *openPart) bool { return p.sending != nil })
}

// dismiss ends the parts of a cancelled broadcast that were never let go, some at
// a time. They report nothing. One that cannot be told has not sent either.
func (b *broadcast) dismiss(ctx workflow.Context) {
	if b.state.Phase != contract.BroadcastCancelled || len(b.dismissed) > 0 {
		return
	}
	for b.next <= len(b.in.Sizes) && len(b.dismissed) < dismissedMost {
		b.dismissed = append(b.dismissed, b.order(ctx, b.next, contract.BroadcastCancel))
		b.count(string(contract.NotSent), b.in.Sizes[b.next-1])
		b.next++
	}
}

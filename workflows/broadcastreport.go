package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// report tells the broadcast what it must know: that there is trouble, that every
// recipient that is left merely waits, that all have ended.
func (p *part) report(ctx workflow.Context) {
	if p.over() {
		p.tell(ctx, contract.PartReport{Ended: true})
		return
	}
	if p.trouble != "" {
		p.tell(ctx, contract.PartReport{})
	}
	if p.phase == contract.BroadcastRunning && !p.in.Told && p.merelyWaits(workflow.Now(ctx)) {
		p.in.Told = true
		p.tell(ctx, contract.PartReport{})
	}
}

// tell sends a report, of trouble if there is some, and waits until it has arrived:
// a signal dies with a workflow that closes or continues at that moment.
func (p *part) tell(ctx workflow.Context, r contract.PartReport) {
	if p.silent {
		return
	}
	r.Part, r.Counts, r.Trouble = p.in.Part, p.counts, p.trouble
	p.trouble = ""
	id := contract.BroadcastID(p.in.BotID, p.in.Name)
	err := workflow.SignalExternalWorkflow(ctx, id, "", contract.PartSignal, r).Get(ctx, nil)
	if err != nil {
		workflow.GetLogger(ctx).Warn("the broadcast of this part cannot be told", "error", err)
	}
	_, p.orphan = errors.AsType[*temporal.UnknownExternalWorkflowExecutionError](err)
}

// merelyWaits reports whether every recipient that is left has to wait for a time.
func (p *part) merelyWaits(now time.Time) bool {
	for _, a := range p.left {
		if !a.NotBefore.After(now) {
			return false
		}
	}
	return len(p.left) > 0 && len(p.batches) == 0
}

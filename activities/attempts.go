package activities

import (
	"context"
	"fmt"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// Attempts is what the attempts at the call that its workflow waits for have come
// to so far; the ledger is empty where none is waited for. It is asked before a
// call is taken back: between two attempts the server closes the call at once, and
// forgets their ledger (measured with server 1.29).
//
// An attempt that vanished with its process counts as one that may have sent the
// call; an at-most-once call says better by InFlight whether it has. It changes
// nothing, so twice is as good as once.
func (t *Turns) Attempts(ctx context.Context) (contract.Ledger, error) {
	self := activity.GetInfo(ctx).WorkflowExecution
	d, err := t.executions.DescribeWorkflowExecution(ctx, self.ID, self.RunID)
	if err != nil {
		return contract.Ledger{}, fmt.Errorf("look at the attempts of %s: %w", self.ID, err)
	}
	for _, p := range d.GetPendingActivities() {
		if p.GetActivityType().GetName() == contract.SendActivity {
			return attempts(p), nil
		}
	}
	return contract.Ledger{}, nil
}

func attempts(p *workflowpb.PendingActivityInfo) (l contract.Ledger) {
	if p.GetHeartbeatDetails() != nil && converter.GetDefaultDataConverter().FromPayloads(p.GetHeartbeatDetails(), &l) != nil {
		l = contract.Ledger{}
	}
	// The attempt that is told of is under way, or the next one.
	if vanished := vanished(l, p.GetAttempt()); vanished > 0 {
		l.Failures += vanished
		l.PossibleDuplicate = true
	}
	return l
}

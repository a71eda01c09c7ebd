package broadcast

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Look tells where a broadcast stands, by its memo, and the memos and batches of
// the parts that are under way. Its error may be ErrNone or ErrHalfStarted.
func Look(ctx context.Context, c Client, bot int64, name string) (Status, error) {
	d, err := describe(ctx, c, contract.BroadcastID(bot, name))
	if errors.Is(err, ErrNone) {
		return Status{}, missing(ctx, c, bot, name)
	}
	if err != nil {
		return Status{}, err
	}
	state := shown(d.GetWorkflowExecutionInfo())
	var ids []string
	for _, n := range state.Running {
		ids = append(ids, contract.PartID(bot, name, n))
	}
	open, err := openCounts(ctx, c, ids)
	if err != nil {
		return Status{}, err
	}
	return statusOf(name, state, open, time.Now()), nil
}

// missing tells a broadcast that is half started from one that is not there. One
// whose parts have ended by themselves is not.
func missing(ctx context.Context, c Viewer, bot int64, name string) error {
	d, err := describe(ctx, c, contract.PartID(bot, name, 1))
	switch {
	case err != nil && !errors.Is(err, ErrNone):
		return err
	case err == nil && isOpen(d.GetWorkflowExecutionInfo()):
		return fmt.Errorf("%s: %w", name, ErrHalfStarted)
	default:
		return fmt.Errorf("%s: %w", name, ErrNone)
	}
}

func isOpen(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// shown is what a broadcast shows of itself. One that was terminated shows how it
// stood, and stands still: its parts end when they cannot tell it anything.
func shown(info *workflowpb.WorkflowExecutionInfo) contract.BroadcastState {
	state := stateIn[contract.BroadcastState](info.GetMemo())
	if !isOpen(info) && state.EndedAt.IsZero() {
		state.Phase, state.EndedAt = contract.BroadcastCancelled, info.GetCloseTime().AsTime()
	}
	return state
}

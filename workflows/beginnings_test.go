package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// A history that was recorded to its end is also that of workflows that are open:
// a build finds them wherever the one before it left them.
func TestAWorkflowReplaysFromWhereverItStood(t *testing.T) {
	t.Parallel()
	for name, h := range histories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, part := range beginnings(h) {
				require.NoError(t, replay(t, part), "to event %d", len(part.GetEvents()))
			}
		})
	}
}

// beginnings are a history up to each of its workflow tasks, what that one asked
// for included. A cancel ends one as well: the replayer has the workflow hear of
// it without the task in which it does.
func beginnings(h *historypb.History) []*historypb.History {
	var all []*historypb.History
	stands := false
	for i, e := range h.GetEvents() {
		switch e.GetEventType() { //nolint:exhaustive // of the others a workflow hears with its next task
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
			stands = true
		case enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
			if stands {
				all = append(all, &historypb.History{Events: h.GetEvents()[:i]})
			}
			stands = false
		}
	}
	return all
}

func TestWhatContinuesAsNewIsRecordedOnBothSides(t *testing.T) {
	t.Parallel()
	left, begun := map[string]bool{}, map[string]bool{}
	for _, h := range histories(t) {
		events := h.GetEvents()
		started := events[0].GetWorkflowExecutionStartedEventAttributes()
		name := started.GetWorkflowType().GetName()
		if started.GetContinuedExecutionRunId() != "" {
			begun[name] = true
		}
		if events[len(events)-1].GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW {
			left[name] = true
		}
	}
	for name := range known {
		if name == contract.UpdateWorkflow || name == contract.DeadLetterWorkflow { // a run for each
			continue
		}
		require.True(t, left[name], "%s: a run that ends so", name)
		require.True(t, begun[name], "%s: a run that begins so", name)
	}
}

package activities

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// Executions is the part of a Temporal client by which updates, and messages,
// find and wake each other.
type Executions interface {
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
}

// behind is the update, or message, that a closed one waited for if it was
// terminated, else "". One that ends by itself has had its turn; one that was terminated may have
// left its place in the row while those before it are still open.
func (t *Turns) behind(ctx context.Context, id string) (string, error) {
	d, err := t.executions.DescribeWorkflowExecution(ctx, id, "")
	if closed(err) {
		return "", nil // forgotten
	}
	if err != nil {
		return "", fmt.Errorf("look how %s ended: %w", id, err)
	}
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED {
		return "", nil
	}
	events := t.executions.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	if !events.HasNext() {
		return "", nil
	}
	first, err := events.Next()
	if err != nil {
		return "", fmt.Errorf("read what %s waited for: %w", id, err)
	}
	var in waiter
	input := first.GetWorkflowExecutionStartedEventAttributes().GetInput().GetPayloads()
	if len(input) == 0 || converter.GetDefaultDataConverter().FromPayload(input[0], &in) != nil {
		return "", nil
	}
	return in.After, nil
}

// waiter is what the inputs of an update and of a message have in common. That of
// a dead letter waits for nobody.
type waiter struct {
	After string `json:"after"`
}

package activities

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
)

// Executions is the part of a Temporal client by which updates, and messages,
// find and wake each other.
type Executions interface {
	Histories
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
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
	input, err := firstInput(ctx, t.executions, id)
	if err != nil {
		return "", err
	}
	var in waiter
	if converter.GetDefaultDataConverter().FromPayload(input, &in) != nil {
		return "", nil
	}
	return in.After, nil
}

// waiter is what the inputs of an update and of a message have in common. That of
// a dead letter waits for nobody.
type waiter struct {
	After string `json:"after"`
}

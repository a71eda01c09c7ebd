package activities

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// errNoResult is a message that says nothing of its call.
var errNoResult = errors.New("its result is not that of a call")

// Outcome is how a message ended: pending while it is open, "" for one that
// nobody remembers. A message that went on in a new run ends as that one does.
// It changes nothing, so twice is as good as once; only the answer may be newer.
func (t *Turns) Outcome(ctx context.Context, workflowID string) (contract.Outcome, error) {
	d, err := t.executions.DescribeWorkflowExecution(ctx, workflowID, "")
	if closed(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look how %s ended: %w", workflowID, err)
	}
	info := d.GetWorkflowExecutionInfo()
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return t.returned(ctx, workflowID, info.GetExecution().GetRunId())
	case enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return contract.Dead, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return contract.Cancelled, nil
	default: // one that continues as new is on its way to its latest run
		return contract.Pending, nil
	}
}

// returned is the outcome in the result of a message that completed.
func (t *Turns) returned(ctx context.Context, id, run string) (contract.Outcome, error) {
	events := t.executions.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	if !events.HasNext() {
		return "", nil
	}
	last, err := events.Next()
	if closed(err) {
		return "", nil // forgotten in between
	}
	if err != nil {
		return "", fmt.Errorf("read how %s ended: %w", id, err)
	}
	var res contract.CallResult
	result := last.GetWorkflowExecutionCompletedEventAttributes().GetResult().GetPayloads()
	if len(result) > 0 {
		err = converter.GetDefaultDataConverter().FromPayload(result[0], &res)
	}
	if err != nil || res.Outcome == "" {
		return "", fmt.Errorf("read how %s ended: %w", id, errNoResult)
	}
	return res.Outcome, nil
}

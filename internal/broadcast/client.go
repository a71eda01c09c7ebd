package broadcast

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// What a look at a broadcast may find.
var (
	// ErrNone is for a broadcast that was never started, or is forgotten.
	ErrNone = errors.New("no such broadcast")
	// ErrHalfStarted is for one of which only parts were started, which send
	// nothing.
	ErrHalfStarted = errors.New("the broadcast is half started")
	// ErrEnded is for an order to one that has ended.
	ErrEnded = errors.New("the broadcast has ended")
)

// Viewer is the part of a Temporal client that is asked where broadcasts stand.
type Viewer interface {
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// Client is the part of a Temporal client that is asked, and told.
type Client interface {
	Viewer
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
	QueryWorkflow(ctx context.Context, workflowID, runID, query string, args ...any) (converter.EncodedValue, error)
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
}

// describe looks at a workflow, and says ErrNone where there is none.
func describe(ctx context.Context, c Viewer, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	d, err := c.DescribeWorkflowExecution(ctx, id, "")
	if notFound(err) {
		return nil, fmt.Errorf("%s: %w", id, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", id, err)
	}
	return d, nil
}

func notFound(err error) bool {
	_, ok := errors.AsType[*serviceerror.NotFound](err)
	return ok
}

// stateIn reads a workflow's state from its memo; what is not there is zero.
func stateIn[T any](m *commonpb.Memo) (state T) {
	if field := m.GetFields()[contract.MemoState]; field != nil {
		_ = converter.GetDefaultDataConverter().FromPayload(field, &state) // one that another version wrote is shown as far as it fits
	}
	return state
}

// first is the first event of a run, "" for the newest.
func first(ctx context.Context, c Client, id, run string, filter enumspb.HistoryEventFilterType) (*historypb.HistoryEvent, error) {
	events := c.GetWorkflowHistory(ctx, id, run, false, filter)
	if !events.HasNext() {
		return nil, fmt.Errorf("read %s: it has no history", id)
	}
	event, err := events.Next()
	if notFound(err) {
		return nil, fmt.Errorf("%s: %w", id, ErrNone)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", id, err)
	}
	return event, nil
}

// started is how a run began, "" for the newest.
func started(ctx context.Context, c Client, id, run string) (*historypb.WorkflowExecutionStartedEventAttributes, error) {
	event, err := first(ctx, c, id, run, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	return event.GetWorkflowExecutionStartedEventAttributes(), err
}

// input is what the newest run of a workflow began with.
func input[T any](ctx context.Context, c Client, id string) (in T, err error) {
	began, err := started(ctx, c, id, "")
	if err != nil {
		return in, err
	}
	err = decoded(began, id, &in)
	return in, err
}

// firstInput is what the first run of a workflow began with.
func firstInput[T any](ctx context.Context, c Client, id string) (in T, err error) {
	began, err := started(ctx, c, id, "")
	if err == nil && began.GetContinuedExecutionRunId() != "" {
		began, err = started(ctx, c, id, began.GetFirstExecutionRunId())
	}
	if err != nil {
		return in, err
	}
	err = decoded(began, id, &in)
	return in, err
}

func decoded(began *historypb.WorkflowExecutionStartedEventAttributes, id string, in any) error {
	if err := converter.GetDefaultDataConverter().FromPayloads(began.GetInput(), in); err != nil {
		return fmt.Errorf("read what %s began with: %w", id, err)
	}
	return nil
}

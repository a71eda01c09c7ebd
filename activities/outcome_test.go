package activities_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// lastRun is the latest run of one message, as Temporal remembers it.
type lastRun struct {
	activities.Executions
	status   enumspb.WorkflowExecutionStatus
	result   any
	unknown  error // what Describe answers
	unread   error // what the history answers
	untold   bool  // the history has no event
	readRuns []string
}

func (l *lastRun) DescribeWorkflowExecution(_ context.Context, id, run string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if run != "" {
		return nil, errors.New("an older run may be meant")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "latest"}, Status: l.status,
	}}, l.unknown
}

func (l *lastRun) GetWorkflowHistory(_ context.Context, _, run string, longPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	if longPoll || filter != enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		return &lastEvent{lastRun: l, err: errors.New("more was asked for than the end")}
	}
	l.readRuns = append(l.readRuns, run)
	return &lastEvent{lastRun: l, err: l.unread}
}

type lastEvent struct {
	*lastRun
	err error
}

func (e *lastEvent) HasNext() bool { return !e.untold }

func (e *lastEvent) Next() (*historypb.HistoryEvent, error) {
	if e.err != nil {
		return nil, e.err
	}
	result := &commonpb.Payloads{}
	if e.result != nil {
		var err error
		if result, err = converter.GetDefaultDataConverter().ToPayloads(e.result); err != nil {
			return nil, err
		}
	}
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
		WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: result},
	}}, nil
}

const completed = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED

func TestHowAMessageEnded(t *testing.T) {
	t.Parallel()
	gone := serviceerror.NewNotFound("gone")
	for name, c := range map[string]struct {
		run  *lastRun
		want contract.Outcome
	}{
		"delivered":                  {&lastRun{status: completed, result: contract.CallResult{Outcome: contract.Delivered}}, contract.Delivered},
		"unreachable":                {&lastRun{status: completed, result: contract.CallResult{Outcome: contract.Unreachable}}, contract.Unreachable},
		"cancelled by itself":        {&lastRun{status: completed, result: contract.CallResult{Outcome: contract.Cancelled}}, contract.Cancelled},
		"failed":                     {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_FAILED}, contract.Dead},
		"timed out":                  {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT}, contract.Dead},
		"cancelled":                  {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED}, contract.Cancelled},
		"terminated":                 {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED}, contract.Cancelled},
		"open":                       {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING}, contract.Pending},
		"going on in a new run":      {&lastRun{status: enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW}, contract.Pending},
		"forgotten":                  {&lastRun{unknown: gone}, ""},
		"forgotten while it is read": {&lastRun{status: completed, unread: gone}, ""},
		"forgotten history":          {&lastRun{status: completed, untold: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := activities.NewTurns(c.run)
			for range 2 { // as often as one likes
				got, err := turns.Outcome(t.Context(), "message/1/k")
				require.NoError(t, err)
				require.Equal(t, c.want, got)
			}
			for _, run := range c.run.readRuns {
				require.Equal(t, "latest", run)
			}
		})
	}
}

func TestAnEndThatCannotBeReadIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]*lastRun{
		"nobody answers":         {unknown: errAway},
		"the history is away":    {status: completed, unread: errAway},
		"no result":              {status: completed},
		"the result of another":  {status: completed, result: map[string]any{"state": "replayed"}},
		"a result of other kind": {status: completed, result: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := activities.NewTurns(run).Outcome(t.Context(), "message/1/k")
			require.ErrorContains(t, err, "message/1/k")
			require.Empty(t, got)
		})
	}
}

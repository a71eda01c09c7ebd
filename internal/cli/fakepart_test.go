package cli_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// GetWorkflowExecutionHistory returns what a workflow began with, and its result.
func (s *station) GetWorkflowExecutionHistory(_ context.Context, in *workflowservice.GetWorkflowExecutionHistoryRequest) (*workflowservice.GetWorkflowExecutionHistoryResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, known := s.runs[in.GetExecution().GetWorkflowId()]
	if !known {
		return nil, status.Error(codes.NotFound, "workflow not found")
	}
	var events []*historypb.HistoryEvent
	if in.GetHistoryEventFilterType() != enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		events = append(events, run.first())
	}
	if run.result != nil {
		events = append(events, run.last())
	}
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: events}}, nil
}

func (r *onAir) first() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 1, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, EventTime: timestamppb.New(r.at),
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				Input: r.input, OriginalExecutionRunId: "run", FirstExecutionRunId: "run",
			},
		},
	}
}

func (r *onAir) last() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 9, EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, EventTime: timestamppb.New(r.at.Add(time.Minute)),
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
			WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
				Result: &commonpb.Payloads{Payloads: []*commonpb.Payload{r.result}},
			},
		},
	}
}

// QueryWorkflow answers for a part, while there is a process.
func (s *station) QueryWorkflow(_ context.Context, in *workflowservice.QueryWorkflowRequest) (*workflowservice.QueryWorkflowResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, known := s.runs[in.GetExecution().GetWorkflowId()]
	if s.deaf || !known || run.shown == nil {
		return nil, serviceerror.ToStatus(serviceerror.NewQueryFailed("nobody polls")).Err()
	}
	return &workflowservice.QueryWorkflowResponse{
		QueryResult: &commonpb.Payloads{Payloads: []*commonpb.Payload{encoded(run.shown)}}, QueryRejected: (*querypb.QueryRejected)(nil),
	}, nil
}

// end closes a broadcast whose parts have ended with these results, in their order.
func (s *station) end(t *testing.T, name string, phase contract.BroadcastPhase, results ...contract.RecipientResult) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum contract.Counts
	for n := 1; s.runs[contract.PartID(7, name, n)] != nil; n++ {
		part := s.runs[contract.PartID(7, name, n)]
		var in contract.PartInput
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(part.input.GetPayloads()[0], &in))
		var of contract.PartResult
		of.Results, results = results[:len(in.Recipients)], results[len(in.Recipients):]
		for _, r := range of.Results {
			of.Counts.Add(r)
		}
		sum.Merge(of.Counts)
		part.result = encoded(of)
		part.memo.Fields[contract.MemoState] = encoded(contract.PartState{Phase: phase, Total: len(of.Results), Counts: of.Counts})
	}
	run := s.runs[contract.BroadcastID(7, name)]
	state := stateOf(run)
	state.Phase, state.Counts, state.BeganAt, state.EndedAt = phase, sum, state.AcceptedAt, state.AcceptedAt.Add(time.Minute)
	run.memo.Fields[contract.MemoState] = encoded(state)
	run.result = encoded(state)
}

package cli_test

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/durabot/durabot/internal/contract"
)

// UpdateWorkflowExecution replays and discards.
func (m *morgue) UpdateWorkflowExecution(ctx context.Context, in *workflowservice.UpdateWorkflowExecutionRequest) (*workflowservice.UpdateWorkflowExecutionResponse, error) {
	if m.deaf {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		m.refusal = status.Error(codes.Unavailable, "away")
		return nil, m.refusal
	}
	id, what := in.GetWorkflowExecution().GetWorkflowId(), in.GetRequest().GetInput()
	state, known := m.letters[id]
	if !known || state.State != contract.DeadOpen {
		return nil, status.Error(codes.NotFound, "workflow execution already completed")
	}
	update := id + " " + in.GetRequest().GetMeta().GetUpdateId()
	why := ""
	if !m.seen[update] {
		why = m.act(id, state, what.GetName(), what.GetArgs().GetPayloads()[0])
	}
	m.seen[update] = true
	res := &workflowservice.UpdateWorkflowExecutionResponse{
		UpdateRef: &updatepb.UpdateRef{WorkflowExecution: in.GetWorkflowExecution(), UpdateId: in.GetRequest().GetMeta().GetUpdateId()},
		Stage:     enumspb.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED,
		Outcome:   &updatepb.Outcome{Value: &updatepb.Outcome_Success{Success: &commonpb.Payloads{Payloads: []*commonpb.Payload{encoded(state)}}}},
	}
	if why != "" {
		res.Outcome = &updatepb.Outcome{Value: &updatepb.Outcome_Failure{Failure: &failurepb.Failure{
			Message: refusals[why], FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
				ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: why, NonRetryable: true},
			},
		}}}
	}
	return res, nil
}

// refusals are the words of the workflow, where they are shown.
var refusals = map[string]string{contract.RefusedReplaying: "a replay by ann@desk is under way"}

// act does one thing to a letter and returns with what it is refused.
func (m *morgue) act(id string, state *contract.DeadState, name string, args *commonpb.Payload) string {
	if why := m.faster[id]; why != "" {
		return why
	}
	if state.Replaying {
		return contract.RefusedReplaying
	}
	if name == contract.DiscardUpdate {
		var discard contract.Discard
		_ = converter.GetDefaultDataConverter().FromPayload(args, &discard)
		m.discards[id] = discard
		state.State = contract.DeadDiscarded
		state.Actions = append(state.Actions, contract.DeadAction{What: "discard", By: discard.By, Reason: discard.Reason, At: died})
		return ""
	}
	var replay contract.Replay
	_ = converter.GetDefaultDataConverter().FromPayload(args, &replay)
	switch {
	case state.Reason == contract.ReasonTooLarge:
		return contract.RefusedEmpty
	case state.Reason == contract.ReasonUncertain && !replay.AllowDuplicate:
		return contract.RefusedUncertain
	case !state.Deadline.IsZero() && replay.TTL == 0:
		return contract.RefusedExpired
	}
	m.replays = append(m.replays, asked{Replay: replay, letter: state.ID()})
	state.Replaying = true
	state.Actions = append(state.Actions, contract.DeadAction{What: "replay", By: replay.By, Reason: replay.Reason, At: time.Now()})
	return ""
}

package starter_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// dutyServer is a Temporal with at most one workflow, the duty of a bot.
type dutyServer struct {
	starter.Client // nothing else is asked of it

	opts client.StartWorkflowOptions
	kind any
	args []any
	err  error
	duty *workflowservice.DescribeWorkflowExecutionResponse
}

func (s *dutyServer) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	s.opts, s.kind, s.args = o, workflow, args
	return nil, s.err
}

func (s *dutyServer) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.duty == nil || id != "duty/77":
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return s.duty, nil
}

// t0 is when the duty workflow of these tests started.
var t0 = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func after(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(t0.Add(d)) }

// duty is a workflow with these activities pending.
func duty(state contract.DutyState, pending ...*workflowpb.PendingActivityInfo) *dutyServer {
	info := execution("duty/77", map[string]any{contract.MemoState: state}, t0)
	info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	return &dutyServer{duty: &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: info, PendingActivities: pending,
	}}
}

// term is a HoldDuty that pid@host has since a minute after t0.
func term(state enumspb.PendingActivityState) *workflowpb.PendingActivityInfo {
	return &workflowpb.PendingActivityInfo{
		ActivityType: &commonpb.ActivityType{Name: contract.HoldDutyActivity}, State: state,
		ScheduledTime: after(30 * time.Second), LastStartedTime: after(time.Minute), LastWorkerIdentity: "pid@host",
	}
}

func beating(t *testing.T, at *timestamppb.Timestamp, beat any) *workflowpb.PendingActivityInfo {
	t.Helper()
	details, err := converter.GetDefaultDataConverter().ToPayloads(beat)
	require.NoError(t, err)
	a := term(enumspb.PENDING_ACTIVITY_STATE_STARTED)
	a.LastHeartbeatTime, a.HeartbeatDetails = at, details
	return a
}

func holder(t *testing.T, s *dutyServer) starter.Holder {
	t.Helper()
	h, err := starter.DutyHolder(t.Context(), s, bot)
	require.NoError(t, err)
	return h
}

func TestTheDutyIsStartedWithTheseOptionsAndNoOthers(t *testing.T) {
	t.Parallel()
	s := &dutyServer{}
	require.NoError(t, starter.EnsureDuty(t.Context(), s, bot))
	require.Equal(t, client.StartWorkflowOptions{
		ID:                       "duty/77",
		TaskQueue:                "durabot-77",
		WorkflowTaskTimeout:      2 * time.Second,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     map[string]any{"state": contract.DutyState{}},
		Priority:                 temporal.Priority{PriorityKey: 1},
		StaticSummary:            "one process at a time talks to Telegram",
	}, s.opts)
	require.Equal(t, "DutyWorkflow", s.kind)
	require.Equal(t, []any{contract.DutyInput{BotID: bot}}, s.args)

	s.err = errAway
	err := starter.EnsureDuty(t.Context(), s, bot)
	require.ErrorIs(t, err, errAway)
	require.ErrorContains(t, err, "start duty/77: ")
}

func TestTheHolderIsWhoRunsTheTerm(t *testing.T) {
	t.Parallel()
	other := &workflowpb.PendingActivityInfo{ActivityType: &commonpb.ActivityType{Name: "Other"}, LastWorkerIdentity: "other"}
	beat := contract.Beat{Since: t0, Address: "10.0.0.1:8080", Figures: contract.Figures{UnreachableChats: 3}}
	h := holder(t, duty(contract.DutyState{}, other, beating(t, after(time.Hour), beat)))
	require.Equal(t, starter.Holder{
		Running: true, Identity: "pid@host", Since: t0.Add(time.Minute), Beat: beat,
	}, h)
}

func TestATermThatIsToldToEndIsStillHeld(t *testing.T) {
	t.Parallel()
	for state, held := range map[enumspb.PendingActivityState]bool{
		enumspb.PENDING_ACTIVITY_STATE_STARTED:          true,
		enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED: true,
		enumspb.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:  true,
		enumspb.PENDING_ACTIVITY_STATE_SCHEDULED:        false,
		enumspb.PENDING_ACTIVITY_STATE_PAUSED:           false,
		enumspb.PENDING_ACTIVITY_STATE_UNSPECIFIED:      false,
	} {
		h := holder(t, duty(contract.DutyState{}, term(state)))
		require.Equal(t, held, h.Identity != "", state.String())
		require.Equal(t, held, h.WaitingSince.IsZero(), state.String())
	}
}

func TestAHeartbeatIsTheHoldersOwn(t *testing.T) {
	t.Parallel()
	beat := contract.Beat{Address: "of the last holder"}
	for name, a := range map[string]*workflowpb.PendingActivityInfo{
		"none yet":               term(enumspb.PENDING_ACTIVITY_STATE_STARTED),
		"of the attempt before":  beating(t, after(time.Minute-time.Second), beat),
		"with another shape":     beating(t, after(time.Hour), []string{"odd"}),
		"with half of its shape": beating(t, after(time.Hour), map[string]any{"address": "x", "since": 5}),
	} {
		h := holder(t, duty(contract.DutyState{}, a))
		require.Zero(t, h.Beat, name)
		require.Equal(t, "pid@host", h.Identity, name)
	}
}

func TestNobodyHoldsATermThatWaits(t *testing.T) {
	t.Parallel()
	left := beating(t, after(time.Hour), contract.Beat{Address: "gone"})
	left.State = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	require.Equal(t, starter.Holder{Running: true, WaitingSince: t0.Add(30 * time.Second)},
		holder(t, duty(contract.DutyState{}, left)))

	between := duty(contract.DutyState{})
	require.Equal(t, starter.Holder{Running: true, WaitingSince: t0}, holder(t, between), "since the workflow started")
	between.duty.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{OriginalScheduledTime: after(time.Hour)}
	require.Equal(t, t0.Add(time.Hour), holder(t, between).WaitingSince, "since it has something to decide")
}

func TestThePauseIsInTheMemo(t *testing.T) {
	t.Parallel()
	pause := &contract.Pause{Reason: "spam", By: "ada", At: t0}
	require.Equal(t, pause, holder(t, duty(contract.DutyState{Pause: pause})).Pause)
	require.Equal(t, pause, holder(t, duty(contract.DutyState{Pause: pause}, term(enumspb.PENDING_ACTIVITY_STATE_STARTED))).Pause)
	without := duty(contract.DutyState{})
	without.duty.WorkflowExecutionInfo.Memo = nil
	require.Nil(t, holder(t, without).Pause)
}

func TestWithoutADutyWorkflowThereIsNoHolderAndNoError(t *testing.T) {
	t.Parallel()
	require.Zero(t, holder(t, &dutyServer{}))
	ended := duty(contract.DutyState{Pause: &contract.Pause{}}, term(enumspb.PENDING_ACTIVITY_STATE_STARTED))
	ended.duty.WorkflowExecutionInfo.Status = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	require.Zero(t, holder(t, ended))

	boom := errors.New("boom")
	_, err := starter.DutyHolder(t.Context(), &dutyServer{err: boom}, bot)
	require.ErrorIs(t, err, boom)
	require.ErrorContains(t, err, "look at duty/77: ")
}

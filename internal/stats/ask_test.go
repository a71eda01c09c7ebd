package stats_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

var taken = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// onDuty is a store with a process on duty, whose last heartbeat this is; nil for
// none yet.
func onDuty(t *testing.T, beat *contract.Beat, pause *contract.Pause) *store {
	t.Helper()
	convert := converter.GetDefaultDataConverter()
	state, err := convert.ToPayload(contract.DutyState{Pause: pause})
	require.NoError(t, err)
	term := &workflowpb.PendingActivityInfo{
		ActivityType:       &commonpb.ActivityType{Name: contract.HoldDutyActivity},
		State:              enumspb.PENDING_ACTIVITY_STATE_STARTED,
		LastWorkerIdentity: "1@here@", LastStartedTime: timestamppb.New(taken), LastHeartbeatTime: timestamppb.New(taken.Add(time.Second)),
	}
	if beat != nil {
		term.HeartbeatDetails, err = convert.ToPayloads(beat)
		require.NoError(t, err)
	}
	return &store{holder: func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
				Memo:   &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoState: state}},
			},
			PendingActivities: []*workflowpb.PendingActivityInfo{term},
		}, nil
	}}
}

func answer(t *testing.T, s *store, attributes bool) string {
	t.Helper()
	n, err := stats.Ask(t.Context(), s, "bots", bot, attributes)
	require.NoError(t, err)
	text, err := json.Marshal(n)
	require.NoError(t, err)
	return string(text)
}

func TestTheNumbersHaveEveryFieldWhoeverIsOnDuty(t *testing.T) {
	t.Parallel()
	const counted = `"inbox_unhandled":0,"queue_depth":0,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":0,"dead_last_24h":0,`
	const duty = `"duty":{"holder":"1@here@","since":"2026-03-01T12:00:00Z","address":"ADDRESS"},`
	beat := &contract.Beat{Since: taken, Address: "127.0.0.1:8080", Figures: contract.Figures{UnreachableChats: 2, DeliveredLast24h: 1024}}
	for name, row := range map[string]struct {
		store *store
		want  string
	}{
		"nobody": {&store{}, counted + `"delivered_last_24h":null,"unreachable_chats":null,"limiter":null,"duty":null,"paused":null`},
		"not told yet": {
			onDuty(t, nil, nil),
			counted + strings.ReplaceAll(duty, "ADDRESS", "") + `"delivered_last_24h":null,"unreachable_chats":null,"limiter":null,"paused":null`,
		},
		"on duty": {
			onDuty(t, beat, &contract.Pause{Reason: "r", By: "b", At: taken}),
			counted + strings.ReplaceAll(duty, "ADDRESS", "127.0.0.1:8080") + `"delivered_last_24h":1024,"unreachable_chats":2,
			"limiter":{"global_per_second":0,"paid_per_second":0,"tokens":0,"in_air":0,"waiting":{"urgent":0,"normal":0,"bulk":0},"penalties":[],"learned":[],"held":[]},
			"paused":{"reason":"r","by":"b","at":"2026-03-01T12:00:00Z"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.JSONEq(t, "{"+row.want+"}", answer(t, row.store, true))
		})
	}
}

func TestWithoutSearchAttributesNoneIsNamedAndWhatTheyTellIsNull(t *testing.T) {
	t.Parallel()
	s := &store{err: func(query string) error {
		if strings.Contains(query, contract.AttributeOutcome) {
			return errors.New("no such attribute")
		}
		return nil
	}}
	require.Contains(t, answer(t, s, false), `"inbox_unhandled":null`)
	_, err := stats.Ask(t.Context(), s, "bots", bot, true)
	require.ErrorContains(t, err, "no such attribute", "the test would notice")
}

func TestOneRequestThatFailsFailsTheAnswer(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for _, part := range []string{"StartTime", "ExecutionTime", contract.DeadLetterWorkflow, contract.BroadcastWorkflow, "!= 'handled'"} {
		s := &store{since: make([]time.Time, 1000), err: func(query string) error {
			if strings.Contains(query, part) {
				return away
			}
			return nil
		}}
		_, err := stats.Ask(t.Context(), s, "bots", bot, true)
		require.ErrorIs(t, err, away, part)
	}
	s := &store{holder: func() (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, away }}
	_, err := stats.Ask(t.Context(), s, "bots", bot, true)
	require.ErrorIs(t, err, away)
}

package story_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// made is a recorded history with its last event replaced by another end.
func made(t *testing.T, name string, keep int, more ...*historypb.HistoryEvent) story.Story {
	t.Helper()
	source := recorded(t, name)
	source.Events = append(source.Events[:keep:keep], more...)
	s, err := story.Of(source)
	require.NoError(t, err)
	return s
}

// sendOf is the event that scheduled the first call of a recorded history.
func sendOf(t *testing.T, name string) (n int, id int64) {
	t.Helper()
	for i, e := range recorded(t, name).Events {
		if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == contract.SendActivity {
			return i + 1, e.GetEventId()
		}
	}
	require.FailNow(t, "no call", name)
	return 0, 0
}

func failed(scheduled int64, kind string) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{
		EventId: 1000, EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED, EventTime: timestamppb.Now(),
		Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
			ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{
				ScheduledEventId: scheduled,
				Failure: &failurepb.Failure{Message: "no", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
					ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: kind},
				}},
			},
		},
	}
}

func TestEveryFailureTypeOfACallHasItsOutcome(t *testing.T) {
	t.Parallel()
	n, id := sendOf(t, "echo")
	for kind, want := range map[string]struct {
		outcome contract.Outcome
		reason  contract.Reason
	}{
		contract.FailureUnreachable:  {contract.Unreachable, ""},
		contract.FailureExpired:      {contract.Expired, ""},
		contract.FailurePaced:        {contract.Expired, ""},
		contract.FailureRateLimited:  {contract.Expired, ""},
		contract.FailureUnavailable:  {contract.Expired, ""},
		contract.FailureUnauthorized: {contract.Expired, ""},
		contract.FailureSuperseded:   {contract.Superseded, ""},
		contract.FailureDropped:      {contract.Dropped, ""},
		contract.FailureOvertaken:    {contract.Pending, ""},
		contract.FailureRejected:     {contract.Dead, contract.ReasonRejected},
		contract.FailureUncertain:    {contract.Dead, contract.ReasonUncertain},
		contract.FailureMoved:        {contract.Dead, contract.ReasonMovedTwice},
		contract.FailureGaveUp:       {contract.Dead, contract.ReasonGaveUp},
		"SomethingNew":               {contract.Dead, contract.ReasonGaveUp},
	} {
		c := made(t, "echo", n, failed(id, kind)).Calls[0]
		require.Equal(t, want.outcome, c.Outcome, kind)
		require.Equal(t, want.reason, c.Reason, kind)
		require.Equal(t, "101", c.ChatID, kind)
	}
}

func TestCallOutOfTimeIsExpired(t *testing.T) {
	t.Parallel()
	n, id := sendOf(t, "echo")
	c := made(t, "echo", n, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, EventTime: timestamppb.Now(),
		Attributes: &historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes{
			ActivityTaskTimedOutEventAttributes: &historypb.ActivityTaskTimedOutEventAttributes{
				ScheduledEventId: id, Failure: timedOut(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE),
			},
		},
	}).Calls[0]
	require.Equal(t, contract.Expired, c.Outcome)
}

func timedOut(kind enumspb.TimeoutType) *failurepb.Failure {
	return &failurepb.Failure{FailureInfo: &failurepb.Failure_TimeoutFailureInfo{
		TimeoutFailureInfo: &failurepb.TimeoutFailureInfo{TimeoutType: kind},
	}}
}

func TestUpdateEndedFromOutsideHasNoOutcome(t *testing.T) {
	t.Parallel()
	s := made(t, "echo", 5, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, EventTime: timestamppb.Now(),
	})
	require.Equal(t, "terminated", s.Status)
	require.Empty(t, s.Outcome)
	s = made(t, "waiting", 5, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, EventTime: timestamppb.Now(),
	})
	require.Equal(t, "cancelled", s.Status)
	require.Equal(t, contract.Cancelled, s.Outcome)
}

func TestPendingHandlerSaysHowItsLastAttemptEnded(t *testing.T) {
	t.Parallel()
	source := recorded(t, "waited")
	source.Events = source.Events[:12] // up to the handler's activity
	pending := &workflowpb.PendingActivityInfo{
		ActivityId: "12", ActivityType: &commonpb.ActivityType{Name: contract.HandleActivity}, Attempt: 2,
	}
	for want, failure := range map[string]*failurepb.Failure{
		"its process was gone":      timedOut(enumspb.TIMEOUT_TYPE_HEARTBEAT),
		"it did not return in time": timedOut(enumspb.TIMEOUT_TYPE_START_TO_CLOSE),
	} {
		pending.LastFailure, pending.NextAttemptScheduleTime = failure, nil
		source.Pending = []*workflowpb.PendingActivityInfo{pending}
		s, err := story.Of(source)
		require.NoError(t, err)
		require.Equal(t, "running", s.Handling.State)
		require.Equal(t, 2, s.Handling.Attempts)
		require.Equal(t, want, s.Handling.Error)
	}
	next := time.Now().UTC()
	pending.NextAttemptScheduleTime = timestamppb.New(next)
	s, err := story.Of(source)
	require.NoError(t, err)
	require.Equal(t, "waiting", s.Handling.State)
	require.Equal(t, next, s.Handling.NextAttemptAt)
	require.Equal(t, 1, s.Handling.Attempts)
}

// Histories of other versions, codecs and servers must never bring the command
// down: any event may be missing or hold what is not ours.
func TestNoHistoryBreaksTheTelling(t *testing.T) {
	t.Parallel()
	names := []string{"waited", "rejected", "keyed", "callback", "pending", "panicked"}
	rapid.Check(t, func(r *rapid.T) {
		source := recorded(t, rapid.SampledFrom(names).Draw(r, "name"))
		kept := source.Events[:1:1]
		for _, e := range source.Events[1:] {
			switch rapid.IntRange(0, 5).Draw(r, "fate") {
			case 0:
			case 1:
				kept = append(kept, e, e)
			case 2:
				kept = append(kept, &historypb.HistoryEvent{EventId: e.GetEventId(), EventType: e.GetEventType()})
			default:
				kept = append(kept, e)
			}
		}
		source.Events = kept
		s, err := story.Of(source)
		require.NoError(t, err)
		for _, c := range s.Calls {
			c.Follow(source)
		}
	})
}

// What a message's own workflow holds comes from outside, too.
func FuzzStoryOfAnyInput(f *testing.F) {
	f.Add([]byte(`{"bot_id":"7","update_id":42,"kind":"message","chat_id":"42","user_id":"42"}`))
	f.Add([]byte(`{"update_id":"no number"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, input []byte) {
		first := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: contract.UpdateWorkflow},
				Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{
					Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: input,
				}}},
			},
		}}
		s, err := story.Of(story.Source{Events: []*historypb.HistoryEvent{first}})
		if err == nil {
			require.Equal(t, "running", s.Status)
		}
	})
}

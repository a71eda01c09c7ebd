package story_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// open is a recorded message cut after its call was scheduled, and the call's
// activity as Describe would show it.
func open(t *testing.T, p *workflowpb.PendingActivityInfo) story.Call {
	t.Helper()
	source := recorded(t, "keyed_message")
	for i, e := range source.Events {
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			p.ActivityId, p.ActivityType = a.GetActivityId(), &commonpb.ActivityType{Name: contract.SendActivity}
			source.Events = source.Events[:i+1]
			break
		}
	}
	source.Pending = []*workflowpb.PendingActivityInfo{p}
	return told(t, "keyed").Calls[0].Follow(source)
}

func TestOpenMessageSaysWhereItsCallStands(t *testing.T) {
	t.Parallel()
	c := open(t, &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 1})
	require.Equal(t, "queued", c.State)
	require.Zero(t, c.Attempts, "its first attempt is still to come")

	c = open(t, &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_STARTED, Attempt: 2})
	require.Equal(t, "under_way", c.State)
	require.Equal(t, 2, c.Attempts)

	next := time.Now().UTC()
	c = open(t, &workflowpb.PendingActivityInfo{
		State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 3, NextAttemptScheduleTime: timestamppb.New(next),
		LastFailure: timedOut(enumspb.TIMEOUT_TYPE_HEARTBEAT),
	})
	require.Equal(t, "waiting", c.State)
	require.Equal(t, 2, c.Attempts)
	require.Equal(t, next, c.NextAttemptAt)
	require.Equal(t, "Timeout", c.LastFailure)
	require.Equal(t, contract.Pending, c.Outcome)
	require.Equal(t, "message/700000001/order-17", c.WorkflowID)
}

func TestMessageEndedFromOutsideIsDeadAndSaysSo(t *testing.T) {
	t.Parallel()
	source := recorded(t, "held_message")
	source.Events = append(source.Events, &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, EventTime: timestamppb.Now(),
	})
	c := told(t, "keyed").Calls[1].Follow(source)
	require.Equal(t, contract.Dead, c.Outcome)
	require.Contains(t, c.Error, "message/700000001/update-616200215-1 was terminated")
	require.Empty(t, c.State)
	require.True(t, c.NextAttemptAt.IsZero())
}

func TestMessageThatIsCancelledBeforeItsTimeIsCancelled(t *testing.T) {
	t.Parallel()
	source := recorded(t, "held_message")
	source.Events = append(source.Events[:1:1], &historypb.HistoryEvent{
		EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, EventTime: timestamppb.Now(),
	})
	c := told(t, "keyed").Calls[1].Follow(source)
	require.Equal(t, contract.Cancelled, c.Outcome)
	require.Empty(t, c.Reason)
	require.Empty(t, c.Error)
}

func TestMessageThatTheServerDelaysIsHeldUntilItsTime(t *testing.T) {
	t.Parallel()
	source := recorded(t, "held_message")
	source.Events = source.Events[:1]
	source.Events[0].GetWorkflowExecutionStartedEventAttributes().FirstWorkflowTaskBackoff = durationpb.New(time.Hour)
	c := told(t, "keyed").Calls[1].Follow(source)
	require.Equal(t, "held", c.State)
	require.Equal(t, source.Events[0].GetEventTime().AsTime().Add(time.Hour), c.NextAttemptAt)
	require.Equal(t, contract.Pending, c.Outcome)
}

func TestPendingActivityOfAnotherWorkflowIsIgnored(t *testing.T) {
	t.Parallel()
	source := recorded(t, "pending")
	source.Pending[0].ActivityId = "404"
	s, err := story.Of(source)
	require.NoError(t, err)
	require.Empty(t, s.Calls[0].State)
	require.True(t, s.Calls[0].NextAttemptAt.IsZero())
}

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
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

func TestMessageThatIsAcceptedAndNoMoreSaysSo(t *testing.T) {
	t.Parallel()
	m := begun(contract.MessageInput{Call: says("hello XYZZY")}, 0).message(t)
	require.Equal(t, "accepted", m.State)
	require.Equal(t, "parcel-17", m.Key)
	require.Equal(t, "message/7/parcel-17", m.WorkflowID)
	require.Equal(t, "42", m.ChatID)
	require.Equal(t, contract.Pending, m.Outcome)
	require.Equal(t, "running", m.Status)
	require.True(t, noon.Equal(m.AcceptedAt))
	require.Zero(t, m.DueAt)
	require.Zero(t, m.Total)
}

func TestMessageForLaterIsHeldByTheServerOrByItself(t *testing.T) {
	t.Parallel()
	call := says("hello")
	call.At = noon.Add(time.Hour)
	delayed := begun(contract.MessageInput{Call: call}, time.Hour).message(t)
	require.Equal(t, "held", delayed.State)
	require.Equal(t, call.At, delayed.NextAttemptAt)
	require.Equal(t, call.At, delayed.DueAt)

	woken := begun(contract.MessageInput{Call: call}, 0)
	woken.timer(time.Hour - time.Second)
	m := woken.message(t)
	require.Equal(t, "held", m.State)
	require.Equal(t, call.At, m.NextAttemptAt)
	woken.add(enumspb.EVENT_TYPE_TIMER_FIRED, &historypb.HistoryEvent{})
	require.Equal(t, "accepted", woken.message(t).State, "its time has come")
}

func TestMessageThatWaitsForAnotherIsBehindIt(t *testing.T) {
	t.Parallel()
	c := begun(contract.MessageInput{Call: says("hello"), After: "message/7/parcel-16", AfterDelivered: true}, 0)
	c.asked("AwaitTurn", false)
	c.timer(30 * time.Second) // until it asks again
	m := c.message(t)
	require.Equal(t, "behind", m.State)
	require.Zero(t, m.NextAttemptAt, "a question is no attempt")
	require.Equal(t, "message/7/parcel-16", m.After)
	require.True(t, m.AfterDelivered)
	require.Equal(t, 1, m.Turn.Asked)

	c.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: contract.YourTurnSignal},
	}})
	c.sends(says("hello"))
	m = c.message(t)
	require.True(t, m.Turn.Woken)
	require.Equal(t, noon.Add(3*time.Second), m.Turn.Until)
	require.Equal(t, "queued", m.State)
}

// cut is a message in three parts, two of which are made.
func cut() *chronicle {
	whole := says("one two three XYZZY")
	whole.Split = true
	c := begun(contract.MessageInput{Call: whole}, 0)
	parts := []contract.Call{says("one"), says("two"), says("three XYZZY")}
	c.asked("Split", contract.SplitResult{Calls: parts})
	for i, id := range []string{"5", "6"} {
		c.made(c.sends(parts[i]), int32(i+1), contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: id, Attempts: i + 1, PossibleDuplicate: i == 1})
	}
	c.sends(parts[2])
	return c
}

func TestMessageInPartsTellsOfEachAndOfAll(t *testing.T) {
	t.Parallel()
	m := cut().message(t)
	require.Equal(t, 3, m.Total)
	require.Len(t, m.Parts, 3)
	require.Equal(t, "6", m.Parts[1].MessageID)
	require.Equal(t, contract.Pending, m.Outcome, "two of three are no delivery")
	require.Equal(t, []string{"5", "6"}, m.Messages())
	require.Equal(t, "5", m.MessageID)
	require.Equal(t, 3, m.Attempts)
	require.True(t, m.PossibleDuplicate)
	require.Equal(t, "queued", m.State)
}

func TestMessageInPartsStandsWhereItsLastPartStands(t *testing.T) {
	t.Parallel()
	next := noon.Add(time.Minute)
	c := cut()
	for _, e := range c.events { // each part has an activity of its own
		if a := e.GetActivityTaskScheduledEventAttributes(); a != nil {
			a.ActivityId = e.String()
		}
	}
	last := c.events[len(c.events)-1].GetActivityTaskScheduledEventAttributes().GetActivityId()
	m := c.message(t, &workflowpb.PendingActivityInfo{
		ActivityId: last, Attempt: 2, NextAttemptScheduleTime: timestamppb.New(next),
		HeartbeatDetails: payloads(contract.Ledger{Degraded: true, MovedTo: -5, Error: "telegram: no"}),
		LastFailure: &failurepb.Failure{FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
			ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: contract.FailureRateLimited},
		}},
	})
	require.Equal(t, "waiting", m.State)
	require.Equal(t, next, m.NextAttemptAt)
	require.Equal(t, contract.FailureRateLimited, m.LastFailure)
	require.Equal(t, "telegram: no", m.Error)
	require.True(t, m.Degraded)
	require.Equal(t, "-5", m.MovedTo)
	require.Equal(t, 4, m.Attempts)
}

func TestMessageThatLeftItsUpdateKeepsThePartsThatWereMadeThere(t *testing.T) {
	t.Parallel()
	c := begun(contract.MessageInput{
		Call: says("two"), Rest: []contract.Call{says("three")}, Overtaken: true,
		Parts:  []contract.CallResult{{Method: "sendMessage", Outcome: contract.Delivered, MessageID: "5", Attempts: 1}},
		Ledger: &contract.Ledger{PossibleDuplicate: true, Degraded: true}, NotBefore: noon.Add(time.Minute),
	}, 0)
	c.timer(time.Minute)
	c.add(enumspb.EVENT_TYPE_TIMER_FIRED, &historypb.HistoryEvent{})
	c.sends(says("two"))
	m := c.message(t)
	require.Equal(t, 3, m.Total)
	require.Len(t, m.Parts, 2)
	require.Equal(t, []string{"5"}, m.Messages())
	require.True(t, m.Overtaken)
	require.True(t, m.PossibleDuplicate)
	require.True(t, m.Degraded)
	require.Equal(t, noon.Add(time.Minute), m.DueAt)
}

func TestMessageThatDiedNamesItsDeadLetter(t *testing.T) {
	t.Parallel()
	c := begun(contract.MessageInput{Call: says("hello")}, 0)
	c.sends(says("hello"))
	c.died(contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Dead, Reason: contract.ReasonRejected, Error: "telegram: no", Attempts: 1})
	m := c.message(t)
	require.Equal(t, contract.Dead, m.Outcome)
	require.Equal(t, contract.ReasonRejected, m.Reason)
	require.Equal(t, "message/parcel-17", m.DeadLetter)
	require.Equal(t, "failed", m.Status)
	require.Empty(t, m.State)
	require.Equal(t, noon.Add(3*time.Second), m.ClosedAt)
}

func TestMessageThatWasCancelledBeforeItStartedIsCancelled(t *testing.T) {
	t.Parallel()
	c := begun(contract.MessageInput{Call: says("hello")}, time.Hour)
	c.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, &historypb.HistoryEvent{})
	m := c.message(t)
	require.Equal(t, contract.Cancelled, m.Outcome)
	require.Equal(t, "cancelled", m.Status)
	require.Empty(t, m.State)
	require.Zero(t, m.NextAttemptAt)
}

func TestPayloadOfAMessageIsItsParameters(t *testing.T) {
	t.Parallel()
	c := begun(contract.MessageInput{Call: says("hello XYZZY")}, 0)
	require.JSONEq(t, `{"chat_id":42,"text":"hello XYZZY"}`, string(story.MessagePayload(story.Source{Events: c.events})))
	require.Nil(t, story.MessagePayload(story.Source{}))
}

func TestOfNoMessageThereIsNoMessageToTell(t *testing.T) {
	t.Parallel()
	_, err := story.MessageOf(recorded(t, "echo"))
	require.ErrorContains(t, err, "is a UpdateWorkflow, not a message")
	_, err = story.MessageOf(story.Source{})
	require.ErrorContains(t, err, "history of 0 events without a start")
}

// An update whose call was cut tells one call, however many parts it made.
func TestCallOfAnUpdateThatWasCutIsOneCall(t *testing.T) {
	t.Parallel()
	whole := says("one two XYZZY")
	whole.Split = true
	parts := []contract.Call{says("one"), says("two XYZZY")}
	c := &chronicle{}
	c.add(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			WorkflowId: "update/7/1", WorkflowType: &commonpb.WorkflowType{Name: contract.UpdateWorkflow}, Input: payloads(contract.UpdateInput{UpdateID: 1}),
		},
	}})
	c.asked("Handle", []contract.Call{whole, says("after")})
	c.asked("Split", contract.SplitResult{Calls: parts})
	c.made(c.sends(parts[0]), 1, contract.CallResult{Method: "sendMessage", Outcome: contract.Delivered, MessageID: "5", Attempts: 1})
	c.sends(parts[1])
	s, err := story.Of(story.Source{Events: c.events})
	require.NoError(t, err)
	require.Len(t, s.Calls, 2)
	require.Equal(t, []string{"5"}, s.Calls[0].Messages())
	require.Equal(t, contract.Pending, s.Calls[0].Outcome)
	require.Equal(t, "planned", s.Calls[1].State)

	c.made(c.events[len(c.events)-1].GetEventId(), 2, contract.CallResult{Method: "sendMessage", Outcome: contract.Delivered, MessageID: "6", Attempts: 2})
	c.sends(says("after"))
	c.died(contract.CallResult{})
	s, err = story.Of(story.Source{Events: c.events})
	require.NoError(t, err)
	require.Len(t, s.Calls, 2)
	require.Equal(t, contract.Delivered, s.Calls[0].Outcome)
	require.Equal(t, []string{"5", "6"}, s.Calls[0].Messages())
	require.Equal(t, 3, s.Calls[0].Attempts)
	require.Equal(t, "message/parcel-17", s.DeadLetter)
}

// Whatever is missing from a history, or twice in it, there is something to tell.
func TestNoHistoryBreaksTheTellingOfAMessage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		c := cut()
		if rapid.Bool().Draw(r, "died") {
			c.died(contract.CallResult{Outcome: contract.Dead})
		}
		kept := c.events[:1:1]
		for _, e := range c.events[1:] {
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
		m, err := story.MessageOf(story.Source{Events: kept})
		require.NoError(t, err)
		require.Equal(t, m.ClosedAt.IsZero(), m.Status == "running")
		require.Equal(t, m.ClosedAt.IsZero(), m.Outcome == contract.Pending)
	})
}

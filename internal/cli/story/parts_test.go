package story_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

func TestTurnSaysWhomItWaitedForAndHowLong(t *testing.T) {
	t.Parallel()
	s := told(t, "waited")
	require.Equal(t, "update/700000001/616200217", s.Turn.After)
	require.Equal(t, 1, s.Turn.Asked)
	require.True(t, s.Turn.Woken)
	require.InDelta(t, 3.5, s.Turn.Until.Sub(s.Turn.Since).Seconds(), 0.1)
	require.Equal(t, 1, told(t, "woke").WokeOthers)

	memory := told(t, "turn_in_memory").Turn
	require.False(t, memory.Woken)
	require.Less(t, memory.Until.Sub(memory.Since), time.Second)

	waiting := told(t, "waiting").Turn
	require.NotNil(t, waiting)
	require.True(t, waiting.Until.IsZero())
	require.Nil(t, told(t, "echo").Turn)
}

func TestHandlingCountsTheLocalAttemptAndTheOthers(t *testing.T) {
	t.Parallel()
	quick := told(t, "echo").Handling
	require.Equal(t, "done", quick.State)
	require.True(t, quick.Local)
	require.Equal(t, 1, quick.Attempts)
	require.Equal(t, 3, quick.MaxAttempts)
	require.Less(t, quick.ClosedAt.Sub(quick.StartedAt), time.Second)

	after := told(t, "waited").Handling
	require.False(t, after.Local, "after a wait across tasks the handler is an ordinary activity")
	require.InDelta(t, 3.5, after.ClosedAt.Sub(after.StartedAt).Seconds(), 0.1)

	failed := told(t, "handler_failed").Handling
	require.Equal(t, "failed", failed.State)
	require.Equal(t, 3, failed.Attempts)
	require.Equal(t, "it returned an error", failed.Error)
	require.Equal(t, "it panicked", told(t, "panicked").Handling.Error)
}

func TestSlowHandlerCountsItsOwnTimeOnly(t *testing.T) {
	t.Parallel()
	h := told(t, "woke").Handling
	require.InDelta(t, 3.5, h.ClosedAt.Sub(h.StartedAt).Seconds(), 0.1)
}

func TestCallsThatWereNotSentKeepTheirPlace(t *testing.T) {
	t.Parallel()
	calls := told(t, "rejected").Calls
	require.Equal(t, contract.ReasonRejected, calls[0].Reason)
	require.Contains(t, calls[0].Error, "message text is empty")
	require.Equal(t, 1, calls[0].Attempts)
	require.True(t, calls[1].AcceptedAt.IsZero())
	require.Contains(t, calls[1].Error, "not sent")
	require.Equal(t, "2", calls[2].MessageID)
	require.False(t, calls[2].ClosedAt.IsZero())
}

func TestAnswerToAPressIsNoCallOfTheHandler(t *testing.T) {
	t.Parallel()
	s := told(t, "callback")
	require.Equal(t, "callback_query", s.Kind)
	require.Equal(t, "answerCallbackQuery", s.Answer.Method)
	require.Equal(t, contract.Delivered, s.Answer.Outcome)
	require.Len(t, s.Calls, 1)
	require.Equal(t, "sendMessage", s.Calls[0].Method)
	require.Nil(t, told(t, "echo").Answer)
}

func TestPossibleDuplicateIsTold(t *testing.T) {
	t.Parallel()
	c := told(t, "duplicate").Calls[0]
	require.True(t, c.PossibleDuplicate)
	require.Equal(t, 2, c.Attempts)
}

func TestPendingCallSaysWhyItWaitsAndUntilWhen(t *testing.T) {
	t.Parallel()
	c := told(t, "pending").Calls[0]
	require.Equal(t, "waiting", c.State)
	require.Equal(t, 3, c.Attempts, "the one that Describe counts is still to come")
	require.Equal(t, "Unavailable", c.LastFailure)
	require.Contains(t, c.Error, "502")
	require.True(t, c.PossibleDuplicate)
	require.Equal(t, "107", c.ChatID)
	require.True(t, c.NextAttemptAt.After(c.AcceptedAt))
	require.True(t, c.ClosedAt.IsZero())
}

func TestFollowTellsWhatBecameOfACallThatWentOn(t *testing.T) {
	t.Parallel()
	calls := told(t, "keyed").Calls
	require.Equal(t, "order-17", calls[0].Key)
	require.Equal(t, "message/700000001/order-17", calls[0].WorkflowID)

	sent := calls[0].Follow(recorded(t, "keyed_message"))
	require.Equal(t, contract.Delivered, sent.Outcome)
	require.NotEmpty(t, sent.MessageID)
	require.Equal(t, calls[0].WorkflowID, sent.WorkflowID)
	require.False(t, sent.ClosedAt.Before(sent.AcceptedAt))

	held := calls[1].Follow(recorded(t, "held_message"))
	require.Equal(t, contract.Pending, held.Outcome)
	require.Equal(t, "held", held.State)
	require.InDelta(t, time.Hour.Seconds(), held.NextAttemptAt.Sub(held.AcceptedAt).Seconds(), 5)

	dead := told(t, "overtaken").Calls[0].Follow(recorded(t, "overtaken_message"))
	require.Equal(t, contract.Dead, dead.Outcome)
	require.Equal(t, contract.ReasonGaveUp, dead.Reason)
	require.True(t, dead.Overtaken)
}

func TestFollowIgnoresAHistoryThatIsNoMessage(t *testing.T) {
	t.Parallel()
	c := told(t, "keyed").Calls[0]
	require.Equal(t, c, c.Follow(recorded(t, "echo")))
}

func TestHandlerBeginsWhenTheTurnWasFound(t *testing.T) {
	t.Parallel()
	s := told(t, "turn_in_memory")
	require.Equal(t, s.Turn.Until, s.Handling.StartedAt, "both are local activities of one task")
}

func TestOvertakenCallIsOpenAgain(t *testing.T) {
	t.Parallel()
	c := told(t, "overtaken").Calls[0]
	require.True(t, c.Overtaken)
	require.True(t, c.ClosedAt.IsZero())
	require.Equal(t, 7, c.Attempts)
}

// Of two equal calls after one that died, only the independent one was made.
func TestEqualCallsAreToldApartByWhatMayFollowADeath(t *testing.T) {
	t.Parallel()
	source := recorded(t, "rejected")
	source.Events = source.Events[:len(source.Events)-1]
	for _, e := range source.Events {
		for _, p := range e.GetMarkerRecordedEventAttributes().GetDetails()["result"].GetPayloads() {
			p.Data = bytes.Replace(p.GetData(), []byte(`"second `), []byte(`"third `), 1)
		}
	}
	s, err := story.Of(source)
	require.NoError(t, err)
	require.Len(t, s.Calls, 3)
	require.Equal(t, "planned", s.Calls[1].State)
	require.Equal(t, contract.Delivered, s.Calls[2].Outcome)
}

package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestAReplayMakesWhatIsLeftOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.replays(time.Hour, contract.Replay{Reason: "the chat is back"})
	state := s.lies(s.deadLetter(say("1"), say("2"), long("3|4")))
	require.True(t, a.accepted)
	require.Equal(t, []string{"send 1", "send 2", "cut", "send 3", "send 4", "wake"}, s.story)
	require.Equal(t, contract.DeadReplayed, state.State)
	require.Equal(t, 4, state.Delivered)
	require.Zero(t, state.Left)
	require.Len(t, state.Actions, 1)
	action := state.Actions[0]
	require.Equal(t, "replay", action.What)
	require.Equal(t, ann, action.By)
	require.Equal(t, "the chat is back", action.Reason)
	require.Equal(t, "delivered, delivered, delivered", outcomes(action.Calls))
	require.Equal(t, []string{"3", "4"}, action.Calls[2].MessageIDs)
	require.Equal(t, []string{"replaying", "replayed"}, s.shown.outcomes)
}

func TestAReplayIsAnsweredWhenItIsAccepted(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.replays(time.Minute, contract.Replay{})
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		require.True(t, a.accepted)
		require.True(t, a.state.Replaying)
		return numbered(ctx, in)
	}
	s.lies(s.deadLetter(say("1")))
	require.Equal(t, contract.DeadOpen, a.state.State)
	require.Equal(t, 1, a.state.Left)
	require.Len(t, a.state.Actions, 1)
}

func TestAReplayGoesAtBulkPriority(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	urgent := say("1")
	urgent.Priority = contract.Urgent
	s.replays(0, contract.Replay{})
	s.lies(s.deadLetter(urgent))
	require.Equal(t, "durabot-7-send-bulk", s.sent[0].TaskQueue)
	require.Equal(t, contract.Bulk, s.sends[0].Call.Priority)
	require.False(t, s.sends[0].HoldsTurn)
}

func TestAReplayStopsAtTheFirstThatDiesExceptForIndependentOnes(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	independent := say("4")
	independent.Independent = true
	s.send = dies("2", contract.FailureGaveUp)
	s.replays(time.Minute, contract.Replay{})
	s.env.RegisterDelayedCallback(func() {
		require.Equal(t, []string{"send 1", "send 2", "send 4", "wake"}, s.story)
		require.Equal(t, 2, s.now().Left)
		require.Equal(t, 2, s.now().Delivered)
		require.Equal(t, contract.DeadOpen, s.now().State)
		require.False(t, s.now().Replaying)
		require.Equal(t, contract.ReasonGaveUp, s.now().Reason)
		require.Equal(t, "delivered, dead gave_up, delivered", outcomes(s.now().Actions[0].Calls))
		s.send = numbered
	}, time.Hour)
	s.replays(2*time.Hour, contract.Replay{})
	state := s.lies(s.deadLetter(say("1"), say("2"), say("3"), independent))
	require.Equal(t, []string{"send 2", "send 3", "wake"}, s.story[4:])
	require.Equal(t, contract.DeadReplayed, state.State)
	require.Equal(t, 4, state.Delivered)
	require.Equal(t, []string{"replaying", "gave_up", "replaying", "replayed"}, s.shown.outcomes)
}

func TestWhatNeedNotBeSentAnyMoreLeavesTheLetterAndWhatDidNotArriveStays(t *testing.T) {
	t.Parallel()
	for end, stays := range map[string]bool{
		"superseded": false, "dropped": false, "unreachable": true, "expired": true, "rejected": true,
	} {
		s := newGrave(t)
		s.send = endsAsNamed
		s.replays(time.Minute, contract.Replay{})
		s.discards(time.Hour)
		state := s.lies(s.deadLetter(say(end)))
		require.Equal(t, stays, state.State == contract.DeadDiscarded, end)
		require.Equal(t, stays, state.Left == 1)
		require.Equal(t, contract.ReasonRejected, state.Reason)
		if end == "unreachable" || end == "expired" {
			require.Equal(t, end, state.Error)
		}
	}
}

func TestARestOfPartsIsReplayedFromThePartThatDied(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" && len(s.sends) < 3 {
			return dies("2", contract.FailureGaveUp)(ctx, in)
		}
		return numbered(ctx, in)
	}
	s.replays(time.Minute, contract.Replay{})
	s.replays(time.Hour, contract.Replay{})
	state := s.lies(s.deadLetter(long("1|2|3")))
	require.Equal(t, []string{"cut", "send 1", "send 2", "wake", "send 2", "send 3", "wake"}, s.story)
	require.Equal(t, 3, state.Delivered)
}

func TestAReplayKnowsWhatTheLastSendKnew(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) > 1 {
			return numbered(ctx, in)
		}
		return contract.CallResult{}, final(contract.FailureGaveUp, contract.CallResult{Method: "sendMessage", PossibleDuplicate: true, Attempts: 8})
	}
	s.replays(time.Minute, contract.Replay{})
	s.replays(time.Hour, contract.Replay{})
	in := s.deadLetter(say("1"))
	in.Ledger = &contract.Ledger{MovedTo: -100}
	state := s.lies(in)
	require.Equal(t, &contract.Ledger{MovedTo: -100}, s.sends[0].Ledger)
	require.Equal(t, &contract.Ledger{MovedTo: -100, PossibleDuplicate: true}, s.sends[1].Ledger)
	require.True(t, state.Actions[1].Calls[0].PossibleDuplicate)
	require.Equal(t, 9, state.Attempts)
}

func TestALetterIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.discards(time.Hour)
	state := s.lies(s.deadLetter(say("1")))
	require.True(t, a.accepted)
	require.Equal(t, contract.DeadDiscarded, state.State)
	require.Equal(t, asJSON(a.state), asJSON(state))
	require.Equal(t, "discard", state.Actions[0].What)
	require.Equal(t, "too old", state.Actions[0].Reason)
	require.Empty(t, s.story)
	require.Equal(t, []string{"discarded"}, s.shown.outcomes)
}

func TestALetterThatIsGivenUpBeforeItsFirstTaskShowsIt(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.discards(0)
	state := s.lies(s.deadLetter(say("1")))
	require.True(t, a.accepted)
	require.Equal(t, contract.DeadDiscarded, state.State)
	require.Equal(t, []string{"discarded"}, s.shown.outcomes)
}

func TestALetterExpiresThirtyDaysAfterTheDeath(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	state := s.lies(s.deadLetter(say("1")))
	require.Equal(t, contract.DeadExpired, state.State)
	require.Equal(t, 30*day-time.Hour, s.env.Now().Sub(s.start).Round(time.Minute))
	require.Equal(t, []string{"expired"}, s.shown.outcomes)
	require.Len(t, s.shown.memos, 1, "it was started with the memo that it begins with")
}

func TestALetterDoesNotExpireWhileItIsReplayed(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) == 1 {
			return contract.CallResult{}, paced(2 * time.Hour)
		}
		return numbered(ctx, in)
	}
	s.replays(30*day-2*time.Hour, contract.Replay{})
	state := s.lies(s.deadLetter(say("1")))
	require.Equal(t, contract.DeadReplayed, state.State)
}

func TestALetterThatIsCancelledShowsWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" {
			return contract.CallResult{}, paced(time.Hour)
		}
		return numbered(ctx, in)
	}
	s.replays(time.Minute, contract.Replay{})
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, 2*time.Minute)
	state := s.lies(s.deadLetter(say("1"), say("2"), say("3")))
	require.Equal(t, contract.DeadOpen, state.State)
	require.False(t, state.Replaying)
	require.Equal(t, 2, state.Left)
	require.Equal(t, 1, state.Delivered)
}

func TestALetterWithoutAttributesTouchesNone(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.replays(0, contract.Replay{})
	in := s.deadLetter(say("1"))
	in.Attributes = false
	s.lies(in)
	require.Empty(t, s.shown.outcomes)
}

func TestALetterRemembersTheLastTwentyActions(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = dies("1", contract.FailureRejected)
	for i := range 25 {
		s.replays(time.Duration(i+1)*time.Minute, contract.Replay{})
	}
	state := s.lies(s.deadLetter(say("1")))
	require.Len(t, state.Actions, 20)
	require.Equal(t, 25*time.Minute, state.Actions[19].At.Sub(s.start).Round(time.Minute))
}

func TestAnActionTellsTheFirstFiftyResults(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	var many []contract.Call
	for range 60 {
		many = append(many, say("1"))
	}
	s.replays(time.Minute, contract.Replay{})
	state := s.lies(s.deadLetter(many...))
	require.Len(t, state.Actions[0].Calls, 50)
	require.Equal(t, 60, state.Delivered)
}

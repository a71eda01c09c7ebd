package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestALetterRefusesWhatCannotBeOrWasNotThoughtOver(t *testing.T) {
	t.Parallel()
	uncertain := func(in *contract.DeadInput) { in.Reason = contract.ReasonUncertain }
	late := func(in *contract.DeadInput) { in.Deadline = in.At.Add(30 * time.Minute) }
	edit := func(patch string) contract.Replay { return contract.Replay{Edit: json.RawMessage(patch)} }
	for name, c := range map[string]struct {
		prepare func(*contract.DeadInput)
		replay  contract.Replay
		want    string
	}{
		"nothing against it":        {nil, contract.Replay{}, ""},
		"it may have arrived":       {uncertain, contract.Replay{}, contract.RefusedUncertain},
		"a duplicate is allowed":    {uncertain, contract.Replay{AllowDuplicate: true}, ""},
		"it is too late":            {late, contract.Replay{}, contract.RefusedExpired},
		"it gets new time":          {late, contract.Replay{TTL: time.Hour}, ""},
		"it is not too late yet":    {func(in *contract.DeadInput) { in.Deadline = in.At.Add(day) }, contract.Replay{}, ""},
		"a change":                  {nil, edit(`{"text":"2"}`), ""},
		"a change that is a list":   {nil, edit(`[1]`), contract.RefusedEdit},
		"a change that is null":     {nil, edit(`null`), contract.RefusedEdit},
		"a change to no chat":       {nil, edit(`{"chat_id":0}`), contract.RefusedEdit},
		"a change, perhaps arrived": {uncertain, contract.Replay{Edit: json.RawMessage(`{"text":"2"}`)}, contract.RefusedUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newGrave(t)
			in := s.deadLetter(say("1"))
			if c.prepare != nil {
				c.prepare(&in)
			}
			a := s.replays(time.Minute, c.replay)
			s.discards(time.Hour)
			state := s.lies(in)
			require.Equal(t, c.want, a.kind(), "%v", a.refused)
			require.Equal(t, c.want == "", a.accepted)
			require.Equal(t, c.want == "", len(s.sends) == 1)
			if c.want != "" {
				require.True(t, failure(a.refused).NonRetryable())
				require.Len(t, state.Actions, 1, "a refusal leaves no trace")
			}
		})
	}
}

func TestALetterOfAnUpdateThatWasNotHandledRefusesAChange(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.replays(time.Minute, contract.Replay{Edit: json.RawMessage(`{"text":"2"}`)})
	s.lies(s.unhandled())
	require.Equal(t, contract.RefusedEdit, a.kind())
}

func TestALetterOfWhatWasTooLargeCanOnlyBeGivenUp(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.replays(time.Minute, contract.Replay{})
	s.discards(time.Hour)
	in := s.unhandled()
	in.Reason, in.Update.Dead = contract.ReasonTooLarge, contract.ReasonTooLarge
	state := s.lies(in)
	require.Equal(t, contract.RefusedEmpty, a.kind())
	require.Equal(t, contract.DeadDiscarded, state.State)
}

func TestALetterOfAPostThatWasNoUpdateCanOnlyBeGivenUp(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	a := s.replays(time.Minute, contract.Replay{})
	s.discards(time.Hour)
	in := s.unhandled()
	in.Reason, in.Key, in.Update.UpdateID = contract.ReasonUndecodable, contract.PostPrefix+"0a", 0
	state := s.lies(in)
	require.Equal(t, contract.RefusedEmpty, a.kind())
	require.Equal(t, contract.DeadDiscarded, state.State)
}

func TestOfTwoActionsAtOnceTheSecondIsRefused(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	first := s.replays(time.Minute, contract.Replay{})
	second := s.replays(time.Minute, contract.Replay{})
	third := s.discards(2 * time.Minute)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) == 1 {
			return contract.CallResult{}, paced(time.Hour)
		}
		return numbered(ctx, in)
	}
	state := s.lies(s.deadLetter(say("1")))
	require.True(t, first.accepted)
	require.Equal(t, contract.RefusedReplaying, second.kind())
	require.Equal(t, contract.RefusedReplaying, third.kind())
	require.Contains(t, second.refused.Error(), ann)
	require.Len(t, state.Actions, 1)
}

// An action that comes with the task in which the letter is closed.
func TestAClosedLetterRefusesEveryAction(t *testing.T) {
	t.Parallel()
	for _, what := range []string{contract.ReplayUpdate, contract.DiscardUpdate} {
		s := newGrave(t)
		first, second := new(answer), new(answer)
		s.passed = func() {
			s.passed = nil
			s.doesNow(what, contract.Replay{By: "bob"}, second)
		}
		s.env.RegisterDelayedCallback(func() {
			s.env.SignalWorkflowSkippingWorkflowTask(contract.WakeMeSignal, "next")
			s.doesNow(contract.DiscardUpdate, contract.Discard{By: ann}, first)
		}, time.Minute)
		s.lies(s.deadLetter(say("1")))
		require.True(t, first.accepted)
		require.Equal(t, contract.RefusedClosed, second.kind())
		require.Contains(t, second.refused.Error(), "already discarded by "+ann)
	}
}

// Uncertain is what nobody could know at the time: a later answer to another
// request does not tell.
func TestWhatMayHaveArrivedStaysUncertain(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) == 1 {
			return dies("1", contract.FailureRejected)(ctx, in)
		}
		return numbered(ctx, in)
	}
	s.replays(time.Minute, contract.Replay{AllowDuplicate: true})
	again := s.replays(time.Hour, contract.Replay{})
	s.replays(2*time.Hour, contract.Replay{AllowDuplicate: true})
	in := s.deadLetter(say("1"))
	in.Reason, in.Ledger = contract.ReasonUncertain, &contract.Ledger{PossibleDuplicate: true}
	state := s.lies(in)
	require.Equal(t, contract.RefusedUncertain, again.kind())
	require.True(t, state.Actions[1].Calls[0].PossibleDuplicate)
	require.True(t, state.Actions[1].AllowDuplicate)
}

func TestAnIndependentCallBehindTheFirstMayBeTheUncertainOne(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	independent := say("2")
	independent.Independent = true
	s.send = dies("2", contract.FailureRejected)
	s.replays(time.Minute, contract.Replay{AllowDuplicate: true})
	again := s.replays(time.Hour, contract.Replay{})
	in := s.deadLetter(say("1"), independent)
	in.Reason = contract.ReasonUncertain
	s.lies(in)
	require.Equal(t, contract.RefusedUncertain, again.kind())
}

func TestThePartAfterAnUncertainOneIsNot(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" && len(s.sends) == 2 {
			return dies("2", contract.FailureRejected)(ctx, in)
		}
		return numbered(ctx, in)
	}
	s.replays(time.Minute, contract.Replay{AllowDuplicate: true})
	again := s.replays(time.Hour, contract.Replay{})
	in := s.deadLetter(long("1|2"))
	in.Reason, in.Ledger = contract.ReasonUncertain, &contract.Ledger{PossibleDuplicate: true}
	s.lies(in)
	require.True(t, again.accepted, "%v", again.refused)
	require.Nil(t, s.sends[2].Ledger)
}

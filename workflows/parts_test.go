package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestACutCallIsMadePartByPartAndHasOneOutcome(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(long("1|2|3"), say("4"))
	s.send = numbered
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "cut", "send 1", "send 2", "send 3", "send 4", "pass"}, s.story)
	require.Equal(t, contract.CallResult{
		Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: "1", MessageIDs: []string{"1", "2", "3"}, Attempts: 3,
	}, res.Calls[0])
	require.Len(t, res.Calls, 2)
	require.Empty(t, res.Calls[1].MessageIDs, "it was not cut")
}

func TestACallThatNeedsNoCutIsMadeAsItIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(long("1"))
	s.send = numbered
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "cut", "send 1", "pass"}, s.story)
	require.True(t, s.sends[0].Call.Split, "changed by a replay, it may need one")
	require.Equal(t, "1", res.Calls[0].MessageID)
	require.Empty(t, res.Calls[0].MessageIDs)
}

func TestPartsHaveOneDeadline(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	call := long("1|2")
	call.TTL = time.Hour
	s.handler = calls(call)
	late := map[string]bool{"1": true}
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if late[name(in.Call)] {
			delete(late, name(in.Call))
			return contract.CallResult{}, paced(10 * time.Minute)
		}
		return numbered(ctx, in)
	}
	_, err := s.run(update())
	require.NoError(t, err)
	require.Len(t, s.sends, 3)
	require.Equal(t, time.Hour, s.sends[0].Deadline.Sub(s.start).Round(time.Second))
	require.Equal(t, s.sends[0].Deadline, s.sends[2].Deadline)
	require.GreaterOrEqual(t, s.at[4], 10*time.Minute)
}

func TestTheFlagsOfPartsAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(long("1|2|3"))
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		res, err := numbered(ctx, in)
		res.PossibleDuplicate = name(in.Call) == "1"
		return res, err
	}
	s.split = func(call contract.Call) (contract.SplitResult, error) {
		res, err := atBars(call)
		res.Degraded = true
		return res, err
	}
	res, err := s.run(update())
	require.NoError(t, err)
	require.True(t, res.Calls[0].PossibleDuplicate)
	require.True(t, res.Calls[0].Degraded, "it goes without its parse_mode from the first part on")
	require.Nil(t, s.sends[1].Ledger, "what is known of the first part is not known of the second")
}

func TestAPartThatDiesTakesThoseAfterItIntoTheDeadLetter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(say("0"), long("1|2|3"), say("4"))
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" {
			return dies("2", contract.FailureUncertain)(ctx, in)
		}
		return numbered(ctx, in)
	}
	res, err := s.run(update())
	require.Equal(t, contract.FailureUncertain, failure(err).Type())
	require.Equal(t, "delivered, dead uncertain, dead uncertain", outcomes(res.Calls))
	require.Equal(t, []string{"1"}, res.Calls[1].MessageIDs)
	require.Equal(t, []string{"2", "3", "4"}, names(s.buried[0].Calls))
	require.Equal(t, 2, s.buried[0].Delivered)
	require.Equal(t, &contract.Ledger{PossibleDuplicate: true}, s.buried[0].Ledger)
}

func TestACallThatCannotBeCutDiesWhole(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(long("1|2"))
	s.split = func(contract.Call) (contract.SplitResult, error) {
		return contract.SplitResult{}, final(contract.FailureRejected)
	}
	res, err := s.run(update())
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	require.Equal(t, "dead rejected", outcomes(res.Calls))
	require.Equal(t, "message of Rejected", res.Calls[0].Error)
	require.True(t, s.buried[0].Calls[0].Split, "changed, it may be cut")
}

func TestAnOvertakenPartTakesThoseAfterItAlong(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = calls(long("1|2|3"), say("4"))
	s.fakeMessages()
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) != "2" {
			return numbered(ctx, in)
		}
		res := contract.CallResult{Method: "sendMessage", ChatID: "42"}
		return res, final(contract.FailureOvertaken, res, contract.Ledger{Attempt: 4}, s.start.Add(time.Minute), in.Deadline)
	}
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, "pending, delivered", outcomes(res.Calls))
	require.True(t, res.Calls[0].Overtaken)
	got := s.messages[0]
	require.Equal(t, "2", name(got.Call))
	require.Equal(t, []string{"3"}, names(got.Rest))
	require.Equal(t, []string{"1"}, []string{got.Parts[0].MessageID})
	require.True(t, s.sends[0].Deadline.Equal(got.Deadline))
}

func TestAMessageGoesOnWithTheParts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = numbered
	in := letter()
	in.Call, in.Rest, in.Overtaken = say("2"), []contract.Call{say("3")}, true
	in.Parts = []contract.CallResult{{Method: "sendPhoto", ChatID: "42", Outcome: contract.Delivered, MessageID: "1", Attempts: 2, Degraded: true}}
	in.Ledger = &contract.Ledger{Failures: 3}
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.CallResult{
		Method: "sendPhoto", ChatID: "42", Outcome: contract.Delivered, MessageID: "1", MessageIDs: []string{"1", "2", "3"},
		Attempts: 4, Degraded: true, Overtaken: true,
	}, res)
	require.Equal(t, in.Ledger, s.sends[0].Ledger)
	require.Nil(t, s.sends[1].Ledger)
}

func TestAMessageThatDiesInPartsBuriesTheRest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("2", contract.FailureRejected)
	in := letter()
	in.Call = long("1|2|3")
	res, err := s.runMessage(in)
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	require.Equal(t, []string{"1"}, res.MessageIDs)
	require.Equal(t, []string{"2", "3"}, names(s.buried[0].Calls))
	require.Equal(t, 1, s.buried[0].Delivered)
}

func TestACancelledPartStopsTheRest(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" {
			return contract.CallResult{}, paced(time.Hour)
		}
		return numbered(ctx, in)
	}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	in := letter()
	in.Call, in.CancelWaits = long("1|2|3"), true
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
	require.Equal(t, []string{"1"}, res.MessageIDs, "what has arrived is told")
	require.Equal(t, []string{"cut", "send 1", "send 2", "look at the attempts"}, s.story)
}

func TestAMessageCancelledBeforeItsNextPartTellsWhatHasArrived(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := letter()
	in.Call, in.NotBefore = say("2"), s.start.Add(time.Hour)
	in.Parts = []contract.CallResult{{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: "1"}}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
	require.Equal(t, []string{"1"}, res.MessageIDs)
}

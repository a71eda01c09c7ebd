package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

func letter() contract.MessageInput {
	return contract.MessageInput{BotID: bot, Key: "k", Call: say("1")}
}

func TestAMessageLeavesAtItsTimeAndNeverEarly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ at, notBefore, want time.Duration }{
		"now":            {0, 0, 0},
		"in the past":    {-time.Hour, 0, 0},
		"in an hour":     {time.Hour, 0, time.Hour},
		"held back":      {0, time.Minute, time.Minute},
		"the later wins": {time.Hour, time.Minute, time.Hour},
		"either way":     {time.Minute, time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := letter()
			if c.at != 0 {
				in.Call.At = s.start.Add(c.at)
			}
			if c.notBefore != 0 {
				in.NotBefore = s.start.Add(c.notBefore)
			}
			res, err := s.runMessage(in)
			require.NoError(t, err)
			require.Equal(t, contract.Delivered, res.Outcome)
			require.GreaterOrEqual(t, s.at[0], c.want)
			require.Less(t, s.at[0], c.want+time.Second)
		})
	}
}

func TestTheLifeOfAMessageCountsFromItsTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ at, deadline, want time.Duration }{
		"now":         {0, 0, time.Minute},
		"later":       {time.Hour, 0, time.Hour + time.Minute},
		"in the past": {-time.Hour, 0, time.Minute},
		"inherited":   {0, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := letter()
			in.Call.TTL = time.Minute
			if c.at != 0 {
				in.Call.At = s.start.Add(c.at)
			}
			if c.deadline != 0 {
				in.Deadline = s.start.Add(c.deadline)
			}
			_, err := s.runMessage(in)
			require.NoError(t, err)
			require.Equal(t, c.want, s.sends[0].Deadline.Sub(s.start).Round(time.Second))
			require.False(t, s.sends[0].HoldsTurn)
		})
	}
}

func TestAMessageCancelledBeforeItsTimeIsNotSent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := letter()
	in.Call.At = s.start.Add(time.Hour)
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Cancelled}, res)
	require.Empty(t, s.story)
}

func TestAMessageCancelledWhileItIsRetriedIsCancelled(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("wait", contract.FailureRateLimited,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
	}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.runMessage(letter())
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
}

func TestADeadMessageFails(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureUncertain)
	res, err := s.runMessage(letter())
	require.Equal(t, contract.FailureUncertain, failure(err).Type())
	require.Equal(t, "uncertain: because (dead letter message/k)", failure(err).Message())
	require.Equal(t, contract.Dead, res.Outcome)
	require.Equal(t, contract.ReasonUncertain, res.Reason)
}

func TestAMessageToAClosedChatIsNoFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureUnreachable)
	res, err := s.runMessage(letter())
	require.NoError(t, err)
	require.Equal(t, contract.Unreachable, res.Outcome)
}

func TestAnOvertakenMessageKeepsWhatWasKnown(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := letter()
	in.Overtaken, in.Ledger = true, &contract.Ledger{Attempt: 4, Failures: 3, PossibleDuplicate: true}
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.True(t, res.Overtaken)
	require.Equal(t, in.Ledger, s.sends[0].Ledger)
}

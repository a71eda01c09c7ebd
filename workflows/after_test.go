package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

const before = "message/7/before"

// behind is a message after another.
func behind() contract.MessageInput {
	in := letter()
	in.After, in.CancelWaits = before, true
	return in
}

const askBefore = "ask " + before + " for " + self

func TestAMessageIsSentAfterTheOneBefore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(int) (bool, error) { return false, nil }
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.YourTurnSignal, before) }, 10*time.Second)
	res, err := s.runMessage(behind())
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.Equal(t, []string{askBefore, "send 1"}, s.story, "how it ended does not matter")
	require.Equal(t, 10*time.Second, s.at[1].Round(time.Second))
}

func TestAMessageWaitsForItsTimeFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := behind()
	in.Call.At, in.Call.TTL = s.start.Add(time.Hour), time.Minute
	_, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, []string{askBefore, "send 1"}, s.story)
	require.Equal(t, time.Hour, s.at[0].Round(time.Second))
	require.Equal(t, time.Hour+time.Minute, s.sends[0].Deadline.Sub(s.start).Round(time.Second))
}

func TestAMessageWaitsForTheOneBeforeNoLongerThanItLives(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*stage, *contract.MessageInput){
		"its TTL":      func(_ *stage, in *contract.MessageInput) { in.Call.TTL = 10 * time.Minute },
		"its deadline": func(s *stage, in *contract.MessageInput) { in.Deadline = s.start.Add(10 * time.Minute) },
		"from its time": func(s *stage, in *contract.MessageInput) {
			in.Call.At, in.Call.TTL = s.start.Add(7*time.Minute), 3*time.Minute
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.turn = func(int) (bool, error) { return false, nil }
			in := behind()
			change(s, &in)
			res, err := s.runMessage(in)
			require.NoError(t, err)
			require.Equal(t, contract.Expired, res.Outcome)
			require.Contains(t, res.Error, before)
			require.Empty(t, s.sends)
			require.Equal(t, 10*time.Minute, s.env.Now().Sub(s.start).Round(time.Second))
			require.Equal(t, 10*time.Minute, s.at[len(s.at)-1].Round(time.Second), "it asks once more at the end")
		})
	}
}

func TestAMessageCancelledBehindAnotherIsNotSent(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(int) (bool, error) { return false, nil }
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.runMessage(behind())
	require.NoError(t, err)
	require.Equal(t, contract.CallResult{Method: "sendMessage", ChatID: "42", Outcome: contract.Cancelled}, res)
	require.Equal(t, time.Minute, s.env.Now().Sub(s.start).Round(time.Second), "it ends at once")
}

func TestAfterDeliveredAsksHowTheOneBeforeEnded(t *testing.T) {
	t.Parallel()
	for end, want := range map[contract.Outcome]contract.CallResult{
		contract.Delivered:   {Outcome: contract.Delivered, MessageID: "1"},
		contract.Dead:        {Outcome: contract.Cancelled, Error: "not sent: " + before + " ended dead"},
		contract.Unreachable: {Outcome: contract.Cancelled, Error: "not sent: " + before + " ended unreachable"},
		contract.Cancelled:   {Outcome: contract.Cancelled, Error: "not sent: " + before + " ended cancelled"},
		"":                   {Outcome: contract.Cancelled, Error: "not sent: how " + before + " ended is not known any more"},
	} {
		s := newStage(t)
		s.outcome = func(int) (contract.Outcome, error) { return end, nil }
		in := behind()
		in.AfterDelivered, in.Attributes = true, true
		res, err := s.runMessage(in)
		require.NoError(t, err)
		want.Method, want.ChatID = "sendMessage", "42"
		require.Equal(t, want, res)
		require.Equal(t, []string{askBefore, "how ended " + before}, s.story[:2])
		require.Equal(t, end == contract.Delivered, len(s.sends) == 1)
		require.Equal(t, end == contract.Delivered, len(s.shown.outcomes) == 0)
	}
}

// The one before wakes this one a moment before it is closed.
func TestAfterDeliveredAsksAgainUntilTheOneBeforeIsClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.outcome = func(n int) (contract.Outcome, error) {
		switch n {
		case 1:
			return contract.Pending, nil
		case 2, 3: // each question is asked twice
			return "", errors.New("Temporal is away")
		}
		return contract.Delivered, nil
	}
	in := behind()
	in.AfterDelivered = true
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.Equal(t, 4, s.outcomes)
	require.Less(t, s.at[len(s.at)-1], 5*time.Second)
}

func TestAfterDeliveredDoesNotAskForEver(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.outcome = func(int) (contract.Outcome, error) { return contract.Pending, nil }
	in := behind()
	in.AfterDelivered, in.Call.TTL = true, time.Hour
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Expired, res.Outcome)
	require.Less(t, s.outcomes, 80, "at most once a minute")
}

func TestAMessageWakesWhoeverAsked(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		s.env.SignalWorkflow(contract.WakeMeSignal, "next")
		return dies("1", contract.FailureRejected)(ctx, in)
	}
	_, err := s.runMessage(letter())
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	require.Equal(t, []string{"send 1", "bury dead/7/message/k", "wake next"}, s.story, "and its key may come again")
}

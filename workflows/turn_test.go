package workflows_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const ask = "ask " + after + " for " + self

func TestAWaitingUpdateIsWokenByASignal(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(int) (bool, error) { return false, nil }
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.YourTurnSignal, after) }, 10*time.Second)
	_, err := s.run(waiting())
	require.NoError(t, err)
	require.Equal(t, []string{ask, "handle", "send 1", "pass"}, s.story)
	require.Equal(t, 10*time.Second, s.at[1].Round(time.Second))
}

func TestASignalThatCameBeforeTheQuestionIsNotMissed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(int) (bool, error) {
		s.env.SignalWorkflow(contract.YourTurnSignal, after)
		return false, nil
	}
	s.env.SetOnTimerScheduledListener(func(string, time.Duration) { s.note("timer") })
	_, err := s.run(waiting())
	require.NoError(t, err)
	require.Equal(t, []string{ask, "handle", "send 1", "pass"}, s.story, "and costs no timer")
}

func TestAPredecessorIsAskedAgainAfterThirtySecondsDoublingToAnHour(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(n int) (bool, error) {
		if n == 2 {
			return false, temporal.NewNonRetryableApplicationError("away", "Away", nil) // no answer is no turn
		}
		return n == 10, nil
	}
	_, err := s.run(waiting())
	require.NoError(t, err)
	want := []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour}
	for i, wait := range want {
		require.Equal(t, ask, s.story[i+1])
		require.Equal(t, wait, (s.at[i+1] - s.at[i]).Round(time.Second))
	}
	require.Equal(t, []string{"handle", "send 1", "pass"}, s.story[10:])
}

func TestAnUpdateCancelledWhileItWaitsPassesTheTurnInItsTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.turn = func(n int) (bool, error) { return n == 3, nil }
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.WakeMeSignal, "next") }, time.Second)
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, 10*time.Second)
	_, err := s.run(waiting())
	require.True(t, temporal.IsCanceledError(err))
	require.Equal(t, []string{ask, ask, ask, "pass next"}, s.story, "nothing is handled, and whoever waits waits for both")
	require.Equal(t, 40*time.Second, s.at[3].Round(time.Second), "30 s after it asked again")
}

func TestWhoeverAskedIsWokenWhenTheLastCallHasItsOutcome(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		s.env.SignalWorkflow(contract.WakeMeSignal, "next")
		s.env.SignalWorkflow(contract.WakeMeSignal, "another")
		return delivers(ctx, in)
	}
	_, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "send 1", "pass next another"}, s.story)
}

func TestWhoeverAskedIsWokenAlsoByAFailure(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = func(n int) ([]contract.Call, error) {
		if n == 2 {
			s.env.SignalWorkflow(contract.WakeMeSignal, "next")
		}
		return nil, errors.New("fails")
	}
	_, err := s.run(update())
	require.Equal(t, contract.FailureHandler, failure(err).Type())
	require.Equal(t, []string{"pass next", grave}, s.story[len(s.story)-2:])
}

// The turn is passed before the answer to a button press has its outcome, and
// who asks meanwhile is woken too.
func TestWhoeverAsksDuringTheLastAnswerIsWoken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	release := make(chan struct{})
	s.handler = func(int) ([]contract.Call, error) { return nil, nil }
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		<-release
		s.env.SignalWorkflow(contract.WakeMeSignal, "next")
		return delivers(ctx, in)
	}
	s.passed = func() { s.passed = nil; close(release) }
	_, err := s.run(pressed())
	require.NoError(t, err)
	passes := slices.DeleteFunc(s.story, func(what string) bool { return !strings.HasPrefix(what, "pass") })
	require.Equal(t, []string{"pass", "pass next"}, passes)
}

func TestATurnThatCannotBePassedFailsNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.passError = errors.New("nobody can be reached")
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.Done, res.Outcome)
}

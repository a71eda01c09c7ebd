package workflows_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

func TestTheStoryOfAnUpdate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = func(int) ([]contract.Call, error) { return []contract.Call{say("1"), say("2")}, nil }
	in := waiting()
	res, err := s.run(in)
	require.NoError(t, err)
	require.Equal(t, []string{"ask " + after + " for " + self, "handle locally", "send 1", "send 2", "pass"}, s.story)
	require.Equal(t, contract.UpdateResult{Outcome: contract.Done, Calls: []contract.CallResult{
		{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: "1"},
		{Method: "sendMessage", ChatID: "42", Outcome: contract.Delivered, MessageID: "1"},
	}}, res)
	require.Equal(t, contract.HandleInput{
		UpdateID: 9001, Kind: "message", ChatID: 42, UserID: 43, ReceivedAt: in.ReceivedAt,
	}, s.handled[0])
}

func TestAnUpdateWithoutAPredecessorAsksNobody(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	_, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "send 1", "pass"}, s.story)
}

func TestAnUpdateWithoutCallsIsDone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = func(int) ([]contract.Call, error) { return nil, nil }
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.UpdateResult{Outcome: contract.Done}, res)
}

func TestOneSendFollowsTheOther(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = func(int) ([]contract.Call, error) { return []contract.Call{say("1"), say("2"), say("3")}, nil }
	tries := 0
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "1" && tries < 2 {
			tries++
			return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("wait", contract.FailureRateLimited,
				temporal.ApplicationErrorOptions{NextRetryDelay: 90 * time.Second})
		}
		return delivers(ctx, in)
	}
	_, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "send 1", "send 1", "send 1", "send 2", "send 3", "pass"}, s.story)
	require.GreaterOrEqual(t, s.at[4], 180*time.Second, "the second waits for the first")
}

func TestAButtonPressIsAnsweredBeforeTheHandlerRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	answered := make(chan struct{})
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if in.Call.Method == "answerCallbackQuery" {
			close(answered)
		}
		return delivers(ctx, in)
	}
	s.handler = func(int) ([]contract.Call, error) {
		<-answered // a handler that waits for nothing else would prove nothing
		return []contract.Call{say("1")}, nil
	}
	res, err := s.run(pressed())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"handle", "send answerCallbackQuery"}, s.story[:2], "an ordinary activity beside the answer")
	require.Equal(t, []string{"send 1", "pass"}, s.story[2:])
	require.Equal(t, contract.Delivered, res.Answer.Outcome)
	require.Len(t, res.Calls, 1)

	answer := s.sends[0]
	require.JSONEq(t, `{"callback_query_id":"77"}`, string(mustObject(t, answer.Call)))
	require.Equal(t, 150*time.Second, answer.Deadline.Sub(s.start).Round(time.Second))
	require.False(t, answer.HoldsTurn)
}

func TestAButtonPressIsAnsweredBeforeItsTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := pressed()
	in.After = after
	s.env.SetOnTimerScheduledListener(func(_ string, wait time.Duration) { s.note("task ends: " + wait.String()) })
	_, err := s.run(in)
	require.NoError(t, err)
	first := slices.DeleteFunc(s.story, func(what string) bool { return what == "send answerCallbackQuery" })
	require.Equal(t, []string{"task ends: 1ms", "ask " + after + " for " + self}, first[:2],
		"a question asked in the first task would hold the answer back")
}

func TestAButtonPressIsLeftToTheHandlerWhenToldSo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := pressed()
	in.Handling.AnswerCallbacks = false
	res, err := s.run(in)
	require.NoError(t, err)
	require.Nil(t, res.Answer)
	require.Equal(t, []string{"handle locally", "send 1", "pass"}, s.story)
}

func TestAnAnswerThatComesTooLateIsNoDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if in.Call.Method == "answerCallbackQuery" {
			return contract.CallResult{}, final(contract.FailureExpired, contract.CallResult{Method: in.Call.Method})
		}
		return delivers(ctx, in)
	}
	res, err := s.run(pressed())
	require.NoError(t, err)
	require.Equal(t, contract.Expired, res.Answer.Outcome)
	require.Equal(t, contract.Done, res.Outcome)
}

func TestAnUpdateThatCannotBeHandledFailsInItsTurn(t *testing.T) {
	t.Parallel()
	for reason, kind := range map[contract.Reason]string{
		contract.ReasonUndecodable: contract.FailureUndecodable,
		contract.ReasonTooLarge:    contract.FailureTooLarge,
	} {
		s := newStage(t)
		in := waiting()
		in.Dead = reason
		res, err := s.run(in)
		require.Equal(t, kind, failure(err).Type())
		require.True(t, failure(err).NonRetryable())
		require.Equal(t, contract.UpdateResult{Outcome: contract.Dead, Reason: reason}, res)
		require.Equal(t, []string{"ask " + after + " for " + self, "pass", grave}, s.story)
	}
}

func TestAnUpdateThatIsTooOldEndsInItsTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := pressed()
	in.Expired, in.After = true, after
	res, err := s.run(in)
	require.NoError(t, err)
	require.Equal(t, contract.UpdateResult{Outcome: contract.Expired}, res)
	require.Equal(t, []string{"ask " + after + " for " + self, "pass"}, s.story)
}

func TestACancelledUpdateStopsSendingAndPassesTheTurn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	keyed := say("3")
	keyed.Key = "k"
	s.fakeMessages()
	s.handler = func(int) ([]contract.Call, error) { return []contract.Call{say("1"), say("2"), keyed}, nil }
	s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("wait", contract.FailurePaced,
			temporal.ApplicationErrorOptions{NextRetryDelay: time.Hour})
	}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
	require.Equal(t, "cancelled, cancelled, cancelled", outcomes(res.Calls))
	require.Equal(t, []string{"handle locally", "send 1", "pass"}, s.story)
}

func TestAFailedUpdateSaysWhatAndWhy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	_, err := s.run(update())
	app := failure(err)
	require.Equal(t, contract.FailureRejected, app.Type())
	require.Equal(t, "rejected: because (dead letter update/9001)", app.Message())

	s = newStage(t)
	s.handler = func(int) ([]contract.Call, error) { return nil, errors.New("no such order") }
	res, err := s.run(update())
	app = failure(err)
	require.Equal(t, contract.FailureHandler, app.Type())
	require.Equal(t, "handler_failed: no such order (dead letter update/9001)", app.Message())
	require.Equal(t, contract.UpdateResult{Outcome: contract.Dead, Reason: contract.ReasonHandlerFailed}, res)
}

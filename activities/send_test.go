package activities_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

func TestACallAsksTheBudgetForWhatItSpends(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call contract.Call
		want activities.Want
	}{
		"message": {
			contract.Call{Method: "SENDMESSAGE", Priority: contract.Bulk, Params: json.RawMessage(`{"chat_id":"-7","text":"x"}`)},
			activities.Want{Chat: -7, Method: "sendMessage", Items: 1, Counts: true, Priority: contract.Bulk},
		},
		"album": {
			contract.Call{Method: "sendMediaGroup", Params: json.RawMessage(`{"chat_id":7,"media":[{},{},{}]}`)},
			activities.Want{Chat: 7, Method: "sendMediaGroup", Items: 3, Counts: true},
		},
		"answer": {
			contract.Call{Method: "answerCallbackQuery", Params: json.RawMessage(`{"callback_query_id":"1"}`)},
			activities.Want{Method: "answerCallbackQuery", Items: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := message()
			in.Call = c.call
			_, err := w.attempt(t, 1, in)
			require.NoError(t, err)
			require.Len(t, w.budget.wants, 1)
			got := w.budget.wants[0]
			require.False(t, got.Since.IsZero(), "its place among the calls of its chat")
			got.Since = time.Time{}
			require.Equal(t, c.want, got)
			require.Equal(t, 1, w.budget.done)
		})
	}
}

func TestOnlyARequestThatNeverLeftGivesItsGrantBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer                error
		done, lost, cancelled int
	}{
		"refused":      {refused, 0, 0, 1},
		"reset":        {reset, 1, 1, 0},
		"502":          {page(502), 1, 1, 0},
		"429":          {limited(time.Second), 1, 0, 0},
		"403":          {answered(403, "Forbidden: bot was blocked by the user"), 1, 0, 0},
		"unknown kind": {errAway, 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.api.script = []error{c.answer}
			_, err := w.attempt(t, 1, message())
			require.Error(t, err)
			require.Equal(t, c.done, w.budget.done)
			require.Equal(t, c.lost, w.budget.lost, "without an answer of Telegram's own it proves nothing")
			require.Equal(t, c.cancelled, w.budget.cancelled)
		})
	}
}

func TestARequestInTheAirOutlivesItsAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.recorder.fail = func(string, contract.Ledger) error { return serviceerror.NewNotFound("gone") }
		w.api.wait = func(ctx context.Context) error {
			time.Sleep(30 * time.Second)
			return ctx.Err()
		}
		res, err := w.attemptIn(t, 1, message(), func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			t.Cleanup(cancel)
			return ctx
		})
		require.NoError(t, err)
		require.Equal(t, contract.Delivered, res.Outcome)
	})
}

func TestARequestInTheAirEndsWithTheProcessAndIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   contract.SendInput
		kind string
	}{
		"at-least-once": {message(), contract.FailureUnavailable},
		"at-most-once":  {atMostOnce(), contract.FailureUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.api.wait = func(ctx context.Context) error {
					<-ctx.Done()
					return &telegram.Error{Written: true, Err: ctx.Err()}
				}
				time.AfterFunc(3*time.Second, w.cut)
				start := time.Now()
				c.in.Deadline = start.Add(time.Hour)
				_, err := w.attempt(t, 1, c.in)
				require.Equal(t, c.kind, direct(t, err).Type())
				require.Equal(t, 3*time.Second, time.Since(start))
				require.Equal(t, c.kind == contract.FailureUnavailable, detail(t, direct(t, err)).PossibleDuplicate)
			})
		})
	}
}

// A call that fails for a minute while others of its chat wait leaves the turn.
func TestOnlyACallInATurnIsOvertaken(t *testing.T) {
	t.Parallel()
	for name, holds := range map[string]bool{"in a turn": true, "of its own": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				in := atMostOnce()
				in.HoldsTurn = holds
				w.as(contract.Ledger{Attempt: 1, Failures: 1, FailingSince: time.Now()})
				time.Sleep(59500 * time.Millisecond)
				w.api.script = []error{refused}
				_, err := w.attempt(t, 2, in)
				app := direct(t, err)
				if !holds {
					require.Equal(t, contract.FailureUnavailable, app.Type())
					return
				}
				require.Equal(t, contract.FailureOvertaken, app.Type())
				require.True(t, app.NonRetryable())
				var res contract.CallResult
				var ledger contract.Ledger
				var next, deadline time.Time
				require.NoError(t, app.Details(&res, &ledger, &next, &deadline))
				require.Equal(t, 2, ledger.Failures)
				require.False(t, ledger.InFlight, "its request is known not to have left")
				require.Equal(t, in.Deadline.UTC(), deadline.UTC())
				require.GreaterOrEqual(t, time.Until(next), time.Second)
				require.True(t, ledger.Since.Equal(w.budget.wants[0].Since), "where it goes on it keeps its place")
			})
		})
	}
}

func TestFloodsAndPacingOvertakeNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		in := message()
		in.HoldsTurn = true
		for n := range int32(5) {
			w.api.script = append(w.api.script, limited(40*time.Second))
			_, err := w.attempt(t, n+1, in)
			require.Equal(t, contract.FailureRateLimited, direct(t, err).Type())
			time.Sleep(direct(t, err).NextRetryDelay())
		}
		w.budget.acquire = func(context.Context) error { return paced{in: time.Minute} }
		_, err := w.attempt(t, 6, in)
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
	})
}

func TestParamsThatAreNoJSONAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := message()
	in.Call.Params = func() {}
	_, err := w.attempt(t, 1, in)
	require.Equal(t, contract.FailureRejected, direct(t, err).Type())
	require.True(t, direct(t, err).NonRetryable())
}

func TestTheFirstMessageOfAnAnswerIsItsID(t *testing.T) {
	t.Parallel()
	for answer, id := range map[string]string{
		`{"message_id":9007199254740993}`:     "9007199254740993",
		`[{"message_id":5},{"message_id":6}]`: "5",
		`true`:                                "",
		`[]`:                                  "",
		`[1,2]`:                               "",
	} {
		w := newWorld(t)
		w.API = answers{json.RawMessage(answer)}
		res, err := w.attempt(t, 1, message())
		require.NoError(t, err)
		require.Equal(t, id, res.MessageID)
	}
}

type answers struct{ json.RawMessage }

func (a answers) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return a.RawMessage, nil
}

func TestWhatIsMarkedWhileAPenaltyBeginsWaitsForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget.fallen = 1
	res, err := w.attempt(t, 1, atMostOnce())
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.Len(t, w.budget.wants, 2)
	require.Equal(t, 1, w.budget.cancelled)
	require.Len(t, w.api.sent(), 1)
}

func TestWhatIsMarkedAndHasToWaitAfterAllHasNotLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget.fallen = 1
	w.budget.acquire = func(context.Context) error {
		if len(w.budget.wants) == 2 {
			return paced{in: time.Hour / 2}
		}
		return nil
	}
	_, err := w.attempt(t, 1, atMostOnce())
	require.Equal(t, contract.FailurePaced, direct(t, err).Type())
	require.False(t, w.recorder.last().InFlight)
	require.Empty(t, w.api.sent())
}

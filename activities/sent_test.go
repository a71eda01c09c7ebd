package activities_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// told are the ends that a world was told of.
type told struct {
	mu   sync.Mutex
	ends []activities.Sent
}

// listen lets the world tell of its ends.
func (w *world) listen() *told {
	t := &told{}
	w.Ended = func(s activities.Sent) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.ends = append(t.ends, s)
	}
	return t
}

// wished are the ends that each failure is told as; the others are none.
var wished = map[string]activities.Sent{
	"":                          {Outcome: contract.Delivered},
	contract.FailureUnreachable: {Outcome: contract.Unreachable},
	contract.FailureExpired:     {Outcome: contract.Expired},
	contract.FailureRejected:    {Outcome: contract.Dead, Reason: contract.ReasonRejected},
	contract.FailureUncertain:   {Outcome: contract.Dead, Reason: contract.ReasonUncertain},
}

func TestEveryEndOfACallIsToldOnceAndNoDelay(t *testing.T) {
	t.Parallel()
	for _, d := range doors() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			heard := w.listen()
			w.api.script = []error{d.answer}
			in := message()
			if d.change != nil {
				d.change(&in)
			}
			_, _ = w.attempt(t, 1, in)
			end, ends := wished[d.kind]
			require.Equal(t, ends, len(heard.ends) == 1)
			if !ends {
				require.Empty(t, heard.ends)
				return
			}
			require.Equal(t, end.Outcome, heard.ends[0].Outcome)
			require.Equal(t, end.Reason, heard.ends[0].Reason)
			require.Equal(t, telegram.Lookup(in.Call.Method).Name, heard.ends[0].Method)
			require.Equal(t, contract.Normal, heard.ends[0].Priority)
		})
	}
}

func TestTheEndsThatNoAnswerBringsAreToldToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		budget error
		ledger contract.Ledger
		change func(*contract.SendInput)
		want   activities.Sent
	}{
		"superseded": {activities.ErrSuperseded, contract.Ledger{}, edit, activities.Sent{Method: "editMessageText", Outcome: contract.Superseded}},
		"dropped":    {activities.ErrDropped, contract.Ledger{}, typing, activities.Sent{Method: "sendChatAction", Outcome: contract.Dropped}},
		"gave up": {nil, contract.Ledger{Failures: activities.MaxFailures, PossibleDuplicate: true}, func(*contract.SendInput) {}, activities.Sent{
			Method: "sendMessage", Outcome: contract.Dead, Reason: contract.ReasonGaveUp, PossibleDuplicate: true,
		}},
		"moved twice": {&activities.MovedTo{To: -1}, contract.Ledger{MovedTo: supergroup}, func(*contract.SendInput) {}, activities.Sent{
			Method: "sendMessage", Outcome: contract.Dead, Reason: contract.ReasonMovedTwice,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			heard := w.listen()
			w.budget.acquire = func(context.Context) error { return c.budget }
			in := message()
			in.Ledger = &c.ledger
			in.Call.Priority = contract.Bulk
			c.change(&in)
			_, err := w.attempt(t, 1, in)
			require.True(t, direct(t, err).NonRetryable())
			c.want.Priority = contract.Bulk
			require.Equal(t, []activities.Sent{c.want}, heard.ends)
		})
	}
}

func TestACallThatGoesOnElsewhereHasNotEnded(t *testing.T) {
	t.Parallel()
	t.Run("overtaken", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		heard := w.listen()
		w.budget.acquire = func(context.Context) error { return paced{in: time.Hour, method: true} }
		_, err := w.attempt(t, 1, inTurn())
		require.Equal(t, contract.FailureOvertaken, direct(t, err).Type())
		require.Empty(t, heard.ends)
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		w := cancelledCall(t)
		heard := w.listen()
		_, err := w.attempt(t, 1, atMostOnce())
		known(t, err)
		require.Empty(t, heard.ends)
	})
}

func TestAnAnswerFromMemoryIsNoSecondEnd(t *testing.T) {
	t.Parallel()
	w := outage(t)
	heard := w.listen()
	for n := range int32(3) {
		_, err := w.attempt(t, n+1, message())
		require.NoError(t, err)
	}
	require.Len(t, heard.ends, 1)
	require.Len(t, w.api.sent(), 1)
}

func TestAnAnswerToAQueryIsToldLikeASend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	heard := w.listen()
	in := message()
	in.Call = contract.Call{Method: "ANSWERcallbackquery", Params: json.RawMessage(`{"callback_query_id":"1"}`)}
	_, err := w.attempt(t, 1, in)
	require.NoError(t, err)
	require.Len(t, heard.ends, 1)
	require.Equal(t, "answerCallbackQuery", heard.ends[0].Method)
}

func TestAMethodThatNobodyKnowsIsOther(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"sendSecretThing", "SENDSECRETTHING", "x"} {
		w := newWorld(t)
		heard := w.listen()
		in := message()
		in.Call.Method = method
		_, err := w.attempt(t, 1, in)
		require.NoError(t, err)
		require.Equal(t, "other", heard.ends[0].Method)
	}
}

func TestAnEndSaysHowLongTheCallWaitedForItsLastGrant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		heard := w.listen()
		w.budget.acquire = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		w.api.script = []error{answered(400, entities)}
		w.api.wait = func(context.Context) error { time.Sleep(10 * time.Second); return nil }
		_, err := w.attempt(t, 1, formatted())
		require.NoError(t, err)
		require.Equal(t, 16*time.Second, heard.ends[0].Waited, "two waits and the first request")

		w.budget.acquire = func(context.Context) error { time.Sleep(3 * time.Second); return activities.ErrSuperseded }
		_, err = w.another(t, "2", message())
		require.Error(t, err)
		require.Zero(t, heard.ends[1].Waited, "nothing was granted")
	})
}

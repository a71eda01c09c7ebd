package activities_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

var typing = method("sendChatAction", `{"chat_id":42,"action":"typing"}`)

func inTurn() contract.SendInput {
	in := message()
	in.HoldsTurn = true
	return in
}

func TestWhatIsOnlyShownIsDroppedRatherThanDelayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempt    int32
		acquire    error
		answer     error
		sent, done int
	}{
		"the budget says so":     {1, activities.ErrDropped, nil, 0, 0},
		"the budget wants later": {1, paced{in: time.Second}, nil, 0, 0},
		"429":                    {1, nil, limited(3 * time.Second), 1, 1},
		"a 429 of days":          {1, nil, limited(48 * time.Hour), 1, 1},
		"refused":                {1, nil, refused, 1, 0},
		"502":                    {1, nil, page(502), 1, 1},
		"not on duty":            {1, nil, activities.ErrNotOnDuty, 1, 0},
		"401":                    {1, nil, answered(401, "Unauthorized"), 1, 1},
		"a second attempt":       {2, nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.budget.acquire = func(context.Context) error { return c.acquire }
			w.api.script = []error{c.answer}
			in := inTurn()
			typing(&in)
			_, err := w.attempt(t, c.attempt, in)
			require.Equal(t, contract.FailureDropped, direct(t, err).Type())
			require.True(t, direct(t, err).NonRetryable())
			require.Len(t, w.api.sent(), c.sent)
			require.Equal(t, c.done, w.budget.done)
			for _, want := range w.budget.wants {
				require.True(t, want.Transient)
			}
		})
	}
}

func TestA429OfWhatIsOnlyShownIsAPenaltyLikeAnyOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{limited(3 * time.Second)}
	in := message()
	typing(&in)
	least := time.Now().Add(3 * time.Second)
	_, err := w.attempt(t, 1, in)
	require.Equal(t, contract.FailureDropped, direct(t, err).Type())
	require.Len(t, w.budget.penalties, 1)
	require.Equal(t, "sendChatAction", w.budget.penalties[0].method)
	require.Equal(t, int64(chat), w.budget.penalties[0].chat)
	require.False(t, w.budget.penalties[0].until.Before(least))
}

func TestAnEditThatANewerOneReplacedIsSuperseded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.budget.acquire = func(context.Context) error { return activities.ErrSuperseded }
	in := message()
	edit(&in)
	_, err := w.attempt(t, 1, in)
	require.Equal(t, contract.FailureSuperseded, direct(t, err).Type())
	require.True(t, direct(t, err).NonRetryable())
	require.Equal(t, "editMessageText/1", w.budget.wants[0].Edits)
	require.Empty(t, w.api.sent())
}

func TestAWaitThatOutlastsTheCallIsItsEnd(t *testing.T) {
	t.Parallel()
	for name, acquire := range map[string]error{"paced": paced{in: 61 * time.Second}, "paced by its method": paced{in: 61 * time.Second, method: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.budget.acquire = func(context.Context) error { return acquire }
			in := inTurn()
			short(&in)
			_, err := w.attempt(t, 1, in)
			require.Equal(t, contract.FailureExpired, direct(t, err).Type())
			require.True(t, direct(t, err).NonRetryable())
		})
	}
}

// A penalty on a method must not stop a chat; one on the chat keeps its order.
func TestOnlyALongDelayOfItsMethodTakesACallOutOfItsTurn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(*contract.SendInput)
		acquire error
		answer  error
		kind    string
	}{
		"a minute of its method":        {nil, paced{in: time.Minute, method: true}, nil, contract.FailurePaced},
		"more than that":                {nil, paced{in: time.Minute + 1, method: true}, nil, contract.FailureOvertaken},
		"hours of its chat":             {nil, paced{in: 3 * time.Hour}, nil, contract.FailurePaced},
		"a 429 of its chat":             {nil, nil, limited(3 * time.Hour), contract.FailureRateLimited},
		"a long 429 without a chat":     {nowhere, nil, limited(61 * time.Second), contract.FailureOvertaken},
		"a short 429 without a chat":    {nowhere, nil, limited(59 * time.Second), contract.FailureRateLimited},
		"a long 429 of a public name":   {public, nil, limited(3 * time.Hour), contract.FailureRateLimited},
		"a call that holds no turn":     {func(in *contract.SendInput) { in.HoldsTurn = false }, paced{in: time.Hour, method: true}, nil, contract.FailurePaced},
		"an at-most-once call, not yet": {once, paced{in: time.Hour, method: true}, nil, contract.FailureOvertaken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.budget.acquire = func(context.Context) error { return c.acquire }
				w.api.script = []error{c.answer}
				in := inTurn()
				if c.change != nil {
					c.change(&in)
				}
				start := time.Now()
				_, err := w.attempt(t, 1, in)
				require.Equal(t, c.kind, direct(t, err).Type())
				if c.kind != contract.FailureOvertaken {
					return
				}
				var res contract.CallResult
				var ledger contract.Ledger
				var next, deadline time.Time
				require.NoError(t, direct(t, err).Details(&res, &ledger, &next, &deadline))
				require.Greater(t, next.Sub(start), time.Minute, "not before the penalty is over")
				require.Zero(t, ledger.Failures)
				require.False(t, ledger.InFlight)
			})
		})
	}
}

func TestShortDelaysOfAMethodAddUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.budget.acquire = func(context.Context) error { return paced{in: 40 * time.Second, method: true} }
		_, err := w.attempt(t, 1, inTurn())
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
		time.Sleep(40 * time.Second)
		_, err = w.attempt(t, 2, inTurn())
		require.Equal(t, contract.FailureOvertaken, direct(t, err).Type())
	})
}

// The server gives an attempt ten minutes.
func TestAWaitForTheBotEndsInTimeAndCountsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.budget.acquire = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		start := time.Now()
		_, err := w.attempt(t, 1, inTurn())
		require.Equal(t, 5*time.Minute, time.Since(start))
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
		require.Equal(t, time.Second, direct(t, err).NextRetryDelay())
		require.Equal(t, contract.Ledger{Attempt: 1, Error: "the wait for the budget was cut short"}, *w.recorder.last())
	})
}

func TestAMoveDoesNotLengthenTheWaitForTheBot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.budget.acquire = func(ctx context.Context) error {
			if len(w.budget.wants) == 1 {
				time.Sleep(4 * time.Minute)
				return &activities.MovedTo{To: supergroup}
			}
			<-ctx.Done()
			return ctx.Err()
		}
		start := time.Now()
		_, err := w.attempt(t, 1, moving())
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
		require.Equal(t, 5*time.Minute, time.Since(start))
		require.Equal(t, int64(supergroup), w.recorder.last().MovedTo)
	})
}

func TestARequestThatMayNotStartCountsNothingAndTakesItsMarkBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{errors.Join(activities.ErrNotOnDuty)}
	in := atMostOnce()
	_, err := w.attempt(t, 1, in)
	require.Equal(t, contract.FailurePaced, direct(t, err).Type())
	require.Less(t, direct(t, err).NextRetryDelay(), 3*time.Second)
	require.Equal(t, contract.Ledger{Attempt: 1, Error: "not on duty"}, *w.recorder.last())
	require.True(t, w.recorder.ledgers[0].InFlight)
	require.Equal(t, 1, w.budget.cancelled)
	require.Zero(t, w.budget.done)
	require.Empty(t, w.tokens)

	res, err := w.attempt(t, 2, in)
	require.NoError(t, err)
	require.False(t, res.PossibleDuplicate)
}

func TestAnAbsurdDelayIsCutAndSaidToBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{limited(100 * 365 * 24 * time.Hour)}
	_, err := w.attempt(t, 1, message())
	require.Equal(t, contract.FailureExpired, direct(t, err).Type())
	require.Contains(t, detail(t, direct(t, err)).Error, "taken for 14 days")
	require.WithinDuration(t, time.Now().Add(14*24*time.Hour), w.budget.penalties[0].until, 2*time.Second)
}

func TestARefusedTokenIsReportedOnceForEachAnswerAndPenalizesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{answered(401, "Unauthorized")}
	_, err := w.attempt(t, 1, inTurn())
	require.Equal(t, contract.FailureUnauthorized, direct(t, err).Type())
	require.Equal(t, []bool{true}, w.tokens)
	require.Empty(t, w.budget.penalties)
	require.Zero(t, w.recorder.last().Failures)
}

package activities_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// outage is a world whose Temporal cannot be reached.
func outage(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.recorder.fail = func(string, contract.Ledger) error { return errAway }
	return w
}

func TestASecondAttemptJoinsTheOneThatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := outage(t)
		w.api.wait = func(context.Context) error { time.Sleep(40 * time.Second); return nil }
		var results [3]contract.CallResult
		var wg sync.WaitGroup
		for i := range results {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 15 * time.Second)
				res, err := w.attempt(t, int32(i)+1, message())
				require.NoError(t, err)
				results[i] = res
			})
		}
		wg.Wait()
		require.Len(t, w.api.sent(), 1)
		require.Equal(t, results[0], results[1])
		require.Equal(t, results[0], results[2])
		require.Equal(t, contract.Delivered, results[0].Outcome)
		require.False(t, results[0].PossibleDuplicate)
	})
}

func TestAnAttemptThatJoinsKeepsItselfAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.api.wait = func(context.Context) error { time.Sleep(40 * time.Second); return nil }
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.attempt(t, 1, message()) })
		wg.Go(func() {
			time.Sleep(20 * time.Second)
			_, _ = w.attempt(t, 2, message())
		})
		wg.Wait()
		require.Contains(t, w.recorder.tokens, "attempt 2")
	})
}

func TestAnAttemptThatJoinedIsLetGoWithoutTouchingTheMark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.api.wait = func(context.Context) error { time.Sleep(40 * time.Second); return nil }
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.attempt(t, 1, atMostOnce()) })
		wg.Go(func() {
			time.Sleep(20 * time.Second)
			_, err := w.attemptIn(t, 2, atMostOnce(), func(ctx context.Context) context.Context {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				t.Cleanup(cancel)
				return ctx
			})
			require.Equal(t, contract.FailurePaced, direct(t, err).Type())
			require.False(t, direct(t, err).NonRetryable())
			require.True(t, w.recorder.last().InFlight, "the request is still in the air")
			require.Zero(t, w.recorder.last().Attempt)
		})
		wg.Wait()
		require.Len(t, w.api.sent(), 1)
	})
}

func TestAnAnswerIsFoundAgainForFifteenMinutesAndAsLongAsFewFollow(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]error{
		"delivered": {nil},
		"rejected":  {answered(400, "Bad Request: message text is empty")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := outage(t)
				w.api.script = script
				first, why := w.attempt(t, 1, message())
				found := func(attempt int32) {
					again, err := w.attempt(t, attempt, message())
					require.Equal(t, first, again)
					require.Equal(t, why, err)
					require.Len(t, w.api.sent(), 1)
				}
				w.AnswerOthers(activities.AnswersLast)
				time.Sleep(15 * time.Minute)
				found(2) // though many followed

				time.Sleep(time.Second)
				again, err := w.attempt(t, 3, message())
				require.NoError(t, err)
				require.True(t, again.PossibleDuplicate)
				require.Len(t, w.api.sent(), 2)
				require.Equal(t, activities.AnswersLast+1, w.Kept(), "no more than that is held")
			})
		})
	}
}

func TestAnAnswerOutlivesALongerOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := outage(t)
		first, err := w.attempt(t, 1, message())
		require.NoError(t, err)
		w.AnswerOthers(activities.AnswersLast - 1)
		time.Sleep(24 * time.Hour)
		again, err := w.attempt(t, 2, message())
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Len(t, w.api.sent(), 1)
	})
}

func TestAfterARetryableErrorTheNextAttemptRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{refused}
	_, err := w.attempt(t, 1, message())
	require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
	require.Zero(t, w.Kept())
	res, err := w.attempt(t, 2, message())
	require.NoError(t, err)
	require.False(t, res.PossibleDuplicate)
	require.Len(t, w.api.sent(), 2)
}

func TestAPanicMakesRoomForTheNextAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.wait = func(context.Context) error { panic("broken") }
	func() {
		defer func() { _ = recover() }()
		inActivity(t, &attempt{n: 1}, func(ctx context.Context) {
			defer func() { require.NotNil(t, recover()) }()
			_, _ = w.Send(ctx, message())
		})
	}()
	w.api.wait = nil
	_, err := w.attempt(t, 2, message())
	require.NoError(t, err)
}

func TestAnAttemptThatJoinedOneToBeRepeatedRepeatsIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := outage(t)
		w.api.script = []error{reset}
		w.api.wait = func(context.Context) error { time.Sleep(40 * time.Second); return nil }
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.attempt(t, 1, message()) })
		wg.Go(func() {
			time.Sleep(20 * time.Second)
			res, err := w.attempt(t, 2, message())
			require.NoError(t, err)
			require.True(t, res.PossibleDuplicate)
			require.Equal(t, 2, res.Attempts)
		})
		wg.Wait()
		require.Len(t, w.api.sent(), 2)
	})
}

package activities_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// as makes the server hold this ledger.
func (w *world) as(l contract.Ledger) { w.recorder.ledgers = append(w.recorder.ledgers, l) }

func TestALedgerIsWrittenWholeWithTheTokenOfItsAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		since := time.Now().Add(-30 * time.Second).UTC()
		w.as(contract.Ledger{Attempt: 3, Failures: 2, PossibleDuplicate: true, FailingSince: since, MovedTo: -100})
		w.api.script = []error{refused}
		_, err := w.attempt(t, 4, message())
		require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
		require.Equal(t, contract.Ledger{
			Attempt: 4, Failures: 3, PossibleDuplicate: true, FailingSince: since, MovedTo: -100,
			Error: "telegram: sendMessage: connection refused",
		}, *w.recorder.last())
		require.Equal(t, "attempt 4", w.recorder.tokens[0])
	})
}

func TestASuccessAndAFinalFailureWriteNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.attempt(t, 1, message())
	require.NoError(t, err)
	require.Zero(t, w.recorder.writes())

	w = newWorld(t)
	w.api.script = []error{answered(400, "Bad Request: message text is empty")}
	_, err = w.attempt(t, 1, message())
	require.True(t, direct(t, err).NonRetryable())
	require.Zero(t, w.recorder.writes())
}

func TestALedgerThatCannotBeWrittenDelaysNoError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.recorder.fail = func(string, contract.Ledger) error { return errAway }
	w.api.script = []error{limited(5 * time.Second)}
	_, err := w.attempt(t, 1, message())
	require.Equal(t, contract.FailureRateLimited, direct(t, err).Type())
}

func TestAnAttemptThatVanishedIsAFailure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before    contract.Ledger
		in        contract.SendInput
		failures  int
		duplicate bool
	}{
		"at-least-once":            {contract.Ledger{Attempt: 1, Failures: 1}, message(), 3, true},
		"at-most-once, not marked": {contract.Ledger{Attempt: 1, Failures: 1}, atMostOnce(), 3, false},
		"none vanished":            {contract.Ledger{Attempt: 2, Failures: 1}, message(), 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.as(c.before)
			w.api.script = []error{refused}
			_, err := w.attempt(t, 3, c.in)
			require.Equal(t, c.duplicate, detail(t, direct(t, err)).PossibleDuplicate)
			require.Equal(t, c.failures, w.recorder.last().Failures)
			require.Equal(t, int32(3), w.recorder.last().Attempt)
		})
	}
}

func TestAVanishedAttemptShowsInTheResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.attempt(t, 2, message())
	require.NoError(t, err)
	require.True(t, res.PossibleDuplicate, "the first attempt left no word")
	require.Equal(t, 2, res.Attempts)
	require.Equal(t, "7", res.MessageID)
}

func TestACallWhoseAttemptsAllVanishGivesUpWithoutARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.attempt(t, activities.MaxFailures+1, message())
	require.Equal(t, contract.FailureGaveUp, direct(t, err).Type())
	require.Empty(t, w.api.sent())
}

func TestAnOvertakenCallKeepsItsFailuresButNotItsAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		in := message()
		since := time.Now().Add(-time.Hour)
		in.Ledger = &contract.Ledger{Attempt: 5, Failures: 3, PossibleDuplicate: true, Since: since}
		w.api.script = []error{refused}
		w.api.wait = func(context.Context) error { time.Sleep(6 * time.Second); return nil }
		_, err := w.attempt(t, 1, in)
		require.True(t, detail(t, direct(t, err)).PossibleDuplicate)
		require.Equal(t, 4, w.recorder.last().Failures)
		require.Zero(t, w.recorder.ledgers[0].Attempt, "none of this activity's attempts had ended when it was fed")
		require.True(t, since.Equal(w.budget.wants[0].Since), "an edit is no newer for having been overtaken")
	})
}

func TestAnAttemptWhoseTimeIsOverStillWritesItsNumber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.api.script = []error{limited(time.Second)}
		w.api.wait = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		_, err := w.attemptIn(t, 1, message(), func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			t.Cleanup(cancel)
			return ctx
		})
		require.Equal(t, contract.FailureRateLimited, direct(t, err).Type())
		require.Equal(t, int32(1), w.recorder.last().Attempt)
	})
}

func TestAtMostOnceIsMarkedBeforeItLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.wait = func(context.Context) error {
		require.True(t, w.recorder.last().InFlight)
		return nil
	}
	_, err := w.attempt(t, 1, atMostOnce())
	require.NoError(t, err)
	require.Len(t, w.api.sent(), 1)
	require.Equal(t, 1, w.budget.done)
}

func TestAtMostOnceDoesNotLeaveWithoutItsMark(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.recorder.fail = func(_ string, l contract.Ledger) error {
		if l.InFlight {
			return errAway
		}
		return nil
	}
	_, err := w.attempt(t, 1, atMostOnce())
	require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
	require.False(t, direct(t, err).NonRetryable())
	require.Empty(t, w.api.sent())
	require.Equal(t, 1, w.budget.cancelled)
	require.Zero(t, w.recorder.last().Failures, "an outage of Temporal is no failure of the call")

	w.recorder.fail = nil
	_, err = w.attempt(t, 2, atMostOnce())
	require.NoError(t, err)
}

func TestARequestFoundUnderWayIsUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.as(contract.Ledger{InFlight: true})
	_, err := w.attempt(t, 2, atMostOnce())
	require.Equal(t, contract.FailureUncertain, direct(t, err).Type())
	require.True(t, direct(t, err).NonRetryable())
	require.Empty(t, w.api.sent())
	require.Empty(t, w.budget.wants)
}

// At most once holds for every run of attempts, whatever Telegram answers and
// wherever the process dies.
func TestAtMostOnceIsNeverTakenTwice(t *testing.T) {
	t.Parallel()
	type answer struct {
		err   error
		taken bool // or nobody knows
	}
	answers := []answer{{nil, true}, {reset, true}, {page(502), true}, {refused, false}, {limited(time.Second), false}}
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		taken := 0
		for n := int32(1); n <= 12; n++ {
			a := rapid.SampledFrom(answers).Draw(r, "answer")
			dies := rapid.Bool().Draw(r, "dies before it can say how it went")
			requests := len(w.api.sent())
			w.api.script = append(w.api.script[:requests:requests], a.err)
			w.recorder.fail = func(_ string, l contract.Ledger) error {
				if dies && !l.InFlight {
					return errAway
				}
				return nil
			}
			_, err := w.attempt(t, n, atMostOnce())
			if a.taken && len(w.api.sent()) > requests {
				taken++
			}
			if !dies && (err == nil || direct(t, err).NonRetryable()) {
				break
			}
			if dies {
				w.Sender = activities.NewSender(context.WithoutCancel(t.Context()), w.api, w.budget, w.recorder, activities.NewAnswers())
			}
		}
		require.LessOrEqual(t, taken, 1)
	})
}

func TestALongCallFeedsTheServerEveryFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.as(contract.Ledger{Attempt: 1, Failures: 3})
		w.api.wait = func(context.Context) error { time.Sleep(17 * time.Second); return nil }
		_, err := w.attempt(t, 2, message())
		require.NoError(t, err)
		require.Equal(t, 1+3, w.recorder.writes())
		require.Equal(t, contract.Ledger{Attempt: 1, Failures: 3}, *w.recorder.last(), "whole, and not as if this attempt had ended")
	})
}

func TestAWaitingCallEndsWhenTheServerLetGoOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.recorder.fail = func(string, contract.Ledger) error {
			return serviceerror.NewNotFound("workflow execution already completed")
		}
		w.budget.acquire = waitForEver
		start := time.Now()
		_, err := w.attempt(t, 1, message())
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
		require.Empty(t, w.api.sent())
	})
}

func TestAWaitingCallOutlivesAnOutageOfTemporal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.recorder.fail = func(string, contract.Ledger) error { return errAway }
		w.budget.acquire = func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Minute):
				return nil
			}
		}
		_, err := w.attempt(t, 1, message())
		require.NoError(t, err)
	})
}

package activities_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// waitForEver is a budget that grants nothing.
func waitForEver(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// cancelledCall is a world whose server answers every heartbeat that the call is
// cancelled.
func cancelledCall(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.recorder.fail = func(string, contract.Ledger) error { return temporal.NewCanceledError() }
	return w
}

// known is what the end of a cancelled call tells of it.
func known(t *testing.T, err error) contract.CallResult {
	t.Helper()
	end, ok := errors.AsType[*temporal.CanceledError](err)
	require.True(t, ok, "want a CanceledError, got %T: %v", err, err)
	var res contract.CallResult
	require.NoError(t, end.Details(&res))
	return res
}

func TestACancelledCallThatWaitsEndsWithItsNextHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := cancelledCall(t)
		w.budget.acquire = waitForEver
		start := time.Now()
		a := &attempt{n: 1, token: "attempt 1"}
		inActivity(t, a, func(ctx context.Context) {
			_, err := w.Send(ctx, message())
			require.Equal(t, contract.CallResult{Method: "sendMessage", ChatID: "42", Attempts: 1}, known(t, err))
		})
		require.Equal(t, 5*time.Second, time.Since(start))
		require.Equal(t, 1, a.beats, "the SDK must hear of the cancel, or reports a failure")
		require.Empty(t, w.api.sent())
	})
}

func TestOnlyACancelledCallHeartbeatsThroughTheSDK(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.script = []error{limited(time.Second)}
	a := &attempt{n: 1, token: "attempt 1"}
	inActivity(t, a, func(ctx context.Context) {
		_, err := w.Send(ctx, message())
		require.Error(t, err)
	})
	require.Zero(t, a.beats)
}

func TestARequestThatHasLeftIsAwaitedAndFedForAfterACancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var beats atomic.Int32
		w.recorder.fail = func(string, contract.Ledger) error {
			beats.Add(1)
			return temporal.NewCanceledError()
		}
		w.api.wait = func(ctx context.Context) error { time.Sleep(42 * time.Second); return ctx.Err() }
		res, err := w.attempt(t, 1, message())
		require.NoError(t, err)
		require.Equal(t, contract.Delivered, res.Outcome)
		require.Equal(t, "7", res.MessageID)
		require.Equal(t, int32(8), beats.Load(), "silent for 15 s, the server would give it up")
	})
}

// What a request brought after the cancel stands if it is the call's end. What
// would be tried again is not.
func TestAfterACancelNothingIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer    error
		kind      string // of the failure, "" for a cancel
		duplicate bool
	}{
		"429":               {limited(3 * time.Second), "", false},
		"429 of days":       {limited(48 * time.Hour), "", false},
		"refused":           {refused, "", false},
		"nobody knows":      {page(502), "", true},
		"not on duty":       {activities.ErrNotOnDuty, "", false},
		"blocked":           {answered(403, "Forbidden: bot was blocked by the user"), contract.FailureUnreachable, false},
		"refused for good":  {answered(400, "Bad Request: message text is empty"), contract.FailureRejected, false},
		"a chat that moved": {migrated(supergroup), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := cancelledCall(t)
				w.api.script = []error{c.answer}
				w.api.wait = func(context.Context) error { time.Sleep(6 * time.Second); return nil }
				in := inTurn()
				_, err := w.attempt(t, 1, in)
				require.Len(t, w.api.sent(), 1)
				if c.kind != "" {
					require.Equal(t, c.kind, direct(t, err).Type())
					return
				}
				require.Equal(t, c.duplicate, known(t, err).PossibleDuplicate)
			})
		})
	}
}

func TestACancelThatTheMarkTellsOfKeepsTheRequest(t *testing.T) {
	t.Parallel()
	w := cancelledCall(t)
	_, err := w.attempt(t, 1, atMostOnce())
	known(t, err)
	require.Empty(t, w.api.sent())
	require.Equal(t, 1, w.budget.cancelled)
}

func TestACancelThatTheLastWriteTellsOfIsNoDelay(t *testing.T) {
	t.Parallel()
	w := cancelledCall(t)
	w.api.script = []error{limited(3 * time.Second)}
	_, err := w.attempt(t, 1, message())
	require.NotEmpty(t, known(t, err).Error)
}

func TestACancelThatComesWithTheGrantKeepsTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := cancelledCall(t)
		w.budget.acquire = func(context.Context) error { time.Sleep(6 * time.Second); return nil }
		_, err := w.attempt(t, 1, message())
		known(t, err)
		require.Empty(t, w.api.sent())
		require.Equal(t, 1, w.budget.cancelled)
	})
}

// ending makes the activity's own context end after a time.
func ending(t *testing.T, after time.Duration, cause error) func(context.Context) context.Context {
	t.Helper()
	return func(ctx context.Context) context.Context {
		ctx, end := context.WithCancelCause(ctx)
		time.AfterFunc(after, func() { end(cause) })
		return ctx
	}
}

func TestAWorkerThatStopsCancelsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.budget.acquire = waitForEver
		_, err := w.attemptIn(t, 1, message(), ending(t, time.Second, errors.New("worker is shutting down")))
		require.Equal(t, contract.FailurePaced, direct(t, err).Type())
		require.False(t, direct(t, err).NonRetryable())
	})
}

func TestACancelByTheSDKIsOneLikeAnyOther(t *testing.T) {
	t.Parallel()
	t.Run("of a call that waits", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.budget.acquire = waitForEver
			start := time.Now()
			_, err := w.attemptIn(t, 1, message(), ending(t, time.Second, temporal.NewCanceledError()))
			known(t, err)
			require.Equal(t, time.Second, time.Since(start))
		})
	})
	t.Run("of one whose request has left", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.api.wait = func(context.Context) error { time.Sleep(42 * time.Second); return nil }
			_, err := w.attemptIn(t, 1, message(), ending(t, time.Second, temporal.NewCanceledError()))
			require.NoError(t, err)
			require.Equal(t, 8, w.recorder.writes())
		})
	})
}

func TestAnAttemptThatTheServerGaveUpIsFedForNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var beats atomic.Int32
		w.recorder.fail = func(string, contract.Ledger) error {
			beats.Add(1)
			return serviceerror.NewNotFound("activity task not found")
		}
		w.api.wait = func(context.Context) error { time.Sleep(42 * time.Second); return nil }
		_, err := w.attempt(t, 1, message())
		require.NoError(t, err)
		require.Equal(t, int32(1), beats.Load())
	})
}

func TestACancelledAttemptThatJoinedTellsWhatTheOtherBrought(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.recorder.fail = func(token string, _ contract.Ledger) error {
			if token == "attempt 2" {
				return temporal.NewCanceledError()
			}
			return errAway
		}
		w.api.wait = func(context.Context) error { time.Sleep(40 * time.Second); return nil }
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.attempt(t, 1, message()) })
		wg.Go(func() {
			time.Sleep(20 * time.Second)
			res, err := w.attempt(t, 2, message())
			require.NoError(t, err)
			require.Equal(t, contract.Delivered, res.Outcome)
		})
		wg.Wait()
		require.Len(t, w.api.sent(), 1)
	})
}

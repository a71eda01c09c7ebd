package limiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func TestNothingGoesWhileAnyReasonHolds(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.hold("paused")
		w.hold("away")
		w.hold("paused")
		free := message(99)
		free.Counts = false
		w.spawn(free, 0)
		for chat := range int64(10) {
			w.spawn(message(chat+1), 0)
		}
		require.Equal(t, []string{"away", "paused"}, w.Stats().Held)
		w.pass(time.Hour)
		require.Equal(t, 11, w.Stats().Waiting[limiter.Normal], "in place")
		w.release("unknown")
		w.release("paused")
		w.pass(time.Hour)
		require.Zero(t, w.count())
		w.release("away")
		w.callers.Wait()
		require.Empty(t, w.Stats().Held)
		require.Equal(t, 2*time.Hour, w.times(99)[0])
		require.NoError(t, w.pace(28, everything))
		require.NoError(t, w.heldBack())
	})
}

func TestAnswersCountWhileTheBotIsHeld(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		g, s := w.acquire(message(1))
		w.hold("paused")
		w.end(s)
		g.Done()
		require.Zero(t, w.Stats().InAir)
	})
}

func TestCallerThatComesAgainStandsInItsOldPlace(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		w.hold("paused")
		first := message(1)
		first.Since = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w.pass(1)
		w.spawn(message(1), 0)
		_, err := w.Acquire(ctx, first)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.spawn(first, 0)
		w.release("paused")
		w.callers.Wait()
		require.Equal(t, first.Since, w.sends[0].Since)
		require.NoError(t, w.ordered())
	})
}

package limiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func TestEndedPenaltyIsNotForgottenWhileItsChatWaits(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, 3*sec)
		w.penalize(limiter.Scope{}, 200*sec)
		w.spawn(message(1), 0)
		w.spawn(message(1), 0)
		w.callers.Wait()
		require.Equal(t, []time.Duration{200 * sec, 201 * sec}, w.times(1), "the probe, then the even rate")
	})
}

func TestEndedPenaltyOfAMethodIsNotForgottenWhileCallsWait(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Method: "sendMessage"}, 3*sec)
		w.penalize(limiter.Scope{}, 200*sec)
		w.spawn(contact(1), 0) // the bot's probe
		w.spawn(message(2), sec)
		w.spawn(message(3), sec)
		w.callers.Wait()
		require.ElementsMatch(t, []time.Duration{200 * sec, 201 * sec}, append(w.times(2), w.times(3)...))
	})
}

func TestCallsBehindALateProbeComeBack(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Method: "sendMessage"}, sec)
		probe, _ := w.acquire(message(1))
		require.Equal(t, sec, w.now())
		second := message(2)
		second.Since = time.Now()
		_, err := w.Acquire(t.Context(), second)
		require.Equal(t, &limiter.Paced{Delay: 5 * sec, MethodOnly: true}, err)
		require.Equal(t, 6*sec, w.now(), "it waited for the probe first")
		probe.Done()
		require.Equal(t, 6*sec, w.deliver(second))
	})
}

func TestCallsBehindALateProbeOfTheBotWaitInPlace(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, sec)
		probe, s := w.acquire(message(1))
		w.spawn(message(2), 0)
		w.pass(time.Minute)
		require.Empty(t, w.times(2))
		w.end(s)
		probe.Done()
		w.callers.Wait()
		require.Equal(t, []time.Duration{61 * sec}, w.times(2))
	})
}

func TestGrantThatMeetsAnEndedContextIsGivenBack(t *testing.T) {
	t.Parallel()
	for range 50 { // which of the two is seen first is up to chance
		inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
			first, _ := w.acquire(message(1))
			ctx, cancel := context.WithCancel(t.Context())
			w.callers.Go(func() {
				if g, err := w.Acquire(ctx, message(1)); err == nil {
					g.Done()
				}
			})
			w.pass(1)
			cancel()
			first.Done()
			w.callers.Wait()
			require.Zero(t, w.Stats().InAir)
			require.Zero(t, w.Stats().Chats)
		})
	}
}

func TestStatsTellWhatIsHeld(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 7}, time.Hour)
		w.penalize(limiter.Scope{Method: "sendContact"}, time.Minute)
		g, _ := w.acquire(message(1))
		w.spawn(message(1), 0)
		stats := w.Stats()
		require.Equal(t, [3]int{limiter.Normal: 1}, stats.Waiting)
		require.Equal(t, [3]uint64{limiter.Normal: 1}, stats.Granted)
		require.Equal(t, 1, stats.InAir)
		require.Equal(t, 2, stats.Chats, "one is busy, one has learned")
		require.Equal(t, []limiter.Penalty{
			{Scope: limiter.Scope{Method: "sendContact"}, Until: w.start.Add(time.Minute)},
			{Scope: limiter.Scope{Chat: 7}, Until: w.start.Add(time.Hour)},
		}, stats.Penalties)
		g.Done()
	})
}

func TestPenaltyOfAbsurdLengthHoldsWithoutOverflow(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.Penalize(limiter.Scope{Chat: 1}, time.Now().AddDate(5000, 0, 0))
		require.Greater(t, w.paced(message(1)), 9*365*24*time.Hour)
		w.Penalize(limiter.Scope{Chat: 2}, time.Time{})
		require.Less(t, w.deliver(message(2)), sec, "long over: the next call is a probe")
	})
}

func TestOneGreedyChatDoesNotSlowTheOthers(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		for range 100 {
			w.spawn(message(1), 0)
		}
		for chat := range int64(100) {
			w.pass(100 * time.Millisecond)
			asked := w.now()
			require.Less(t, w.deliver(message(chat+2))-asked, 200*time.Millisecond)
		}
		w.callers.Wait()
		require.NoError(t, w.windows(limiter.DefaultConfig()))
		require.NoError(t, w.ordered())
	})
}

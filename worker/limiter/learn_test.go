package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// shares lists what is learned of one chat, as Stats tells it.
func (w *world) share(chat int64) float64 {
	for _, learned := range w.Stats().Learned {
		if learned.Chat == chat {
			return learned.Share
		}
	}
	return 1
}

func TestRefusedChatGoesOnAtHalfItsRate(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, sec)
		w.pass(20 * sec)
		for range 4 {
			w.spawn(message(1), 0)
		}
		w.callers.Wait()
		require.Equal(t, []time.Duration{20 * sec, 22 * sec, 24 * sec, 26 * sec}, w.times(1))
	})
}

func TestShareComesBackByAnEighthEachHalfMinute(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 4 {
			w.penalize(limiter.Scope{Chat: 1}, 0)
			w.pass(1)
		}
		require.InDelta(t, 1.0/8, w.share(1), 0, "never less")
		start := w.now()
		for eighths := 2; eighths <= 8; eighths++ {
			w.pass(start + 30*sec*time.Duration(eighths-1) - 2 - w.now())
			require.InDelta(t, float64(eighths-1)/8, w.share(1), 0)
			w.pass(1)
			require.InDelta(t, float64(eighths)/8, w.share(1), 0)
		}
		require.Empty(t, w.Stats().Learned)
		w.pass(1)
		require.Zero(t, w.Stats().Chats, "and is forgotten")
	})
}

func TestSilenceTeachesNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, time.Hour)
		w.penalize(limiter.Scope{Chat: 1}, 2*time.Hour)
		w.pass(2*time.Hour + 30*sec - 1)
		require.InDelta(t, 0.5, w.share(1), 0, "one lesson for one penalty")
		w.pass(1)
		require.InDelta(t, 0.625, w.share(1), 0)
	})
}

func TestShareRecoversOnceThePenaltyIsTheMethodsOnly(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		w.pass(sec)
		w.deliver(message(1))
		w.pass(30 * sec)
		require.InDelta(t, 0.625, w.share(1), 0)
	})
}

func TestRefusedProbeIsAnotherLesson(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, sec)
		probe, s := w.acquire(message(1))
		w.penalize(limiter.Scope{Chat: 1}, sec)
		w.end(s)
		probe.Done()
		require.InDelta(t, 0.25, w.share(1), 0)
	})
}

func TestBotGoesOnAtHalfItsPace(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.GlobalPerSecond = 4
	inWorld(t, cfg, func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, 10*sec)
		for chat := range int64(4) {
			w.spawn(message(chat+1), 0)
		}
		w.callers.Wait()
		require.Equal(t, []time.Duration{23*sec/2 - lateness}, w.times(4))
		require.Equal(t, []limiter.Learned{{Share: 0.5}}, w.Stats().Learned)
		w.penalize(limiter.Scope{Chat: 9}, 0)
		w.penalize(limiter.Scope{Chat: -9}, 0)
		require.Equal(t, []limiter.Learned{{Share: 0.5}}, w.Stats().Learned, "a chat without a limit has nothing to lower")
		w.pass(2 * time.Minute)
		require.Empty(t, w.Stats().Learned)
	})
}

func TestMethodHasNoRateToLearn(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Method: "getUpdates"}, sec)
		require.Empty(t, w.Stats().Learned)
	})
}

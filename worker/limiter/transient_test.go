package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// typing is a call that is dropped rather than delayed.
func typing(chat int64) limiter.Request {
	req := message(chat)
	req.Method, req.Transient = "sendChatAction", true
	return req
}

// dropped asks for a grant that must be denied for ever, and returns when it was.
func (w *world) dropped(req limiter.Request) time.Duration {
	w.t.Helper()
	g, err := w.Acquire(w.t.Context(), req)
	require.Nil(w.t, g)
	require.ErrorIs(w.t, err, limiter.ErrDropped)
	return w.now()
}

func TestTransientCallGoesToAFreeChatOnly(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		require.Zero(t, w.deliver(typing(1)))
		g, s := w.acquire(message(1))
		require.Zero(t, w.dropped(typing(1)), "beside one in the air")
		w.end(s)
		g.Done()
		require.Zero(t, w.dropped(typing(1)))
		require.Zero(t, w.deliver(message(1)), "the last slot was left for the reply")
		w.pass(3 * sec)
		require.Equal(t, 3*sec, w.deliver(typing(1)))
		pair := typing(1)
		pair.Items = 2
		w.dropped(pair)
		require.Zero(t, w.Stats().Waiting[limiter.Normal])
	})
}

func TestTransientCallGoesBesideNoPlaceThatIsKept(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		album := message(-1)
		album.Items = 10
		g, s := w.acquire(album)
		require.Equal(t, 18*sec, w.paced(message(-1)))
		w.forget(s)
		g.Cancel()
		require.Zero(t, w.dropped(typing(-1)), "the budget is free, but not the chat")
		w.pass(20 * sec)
		w.deliver(typing(-1))
	})
}

func TestChatWithOneSlotHasNoneToSpare(t *testing.T) {
	t.Parallel()
	cfg := chatsOnly()
	cfg.ChatBurst = 1
	inWorld(t, cfg, func(_ *testing.T, w *world) {
		w.dropped(typing(1))
	})
}

func TestTransientCallIsDroppedByWhatHolds(t *testing.T) {
	t.Parallel()
	for _, scope := range []limiter.Scope{
		{}, {Chat: 1}, {Chat: 1, Method: "sendMessage"}, {Method: "sendChatAction"}, {Chat: 1, Method: "sendChatAction"},
	} {
		inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
			w.penalize(scope, sec)
			require.Zero(t, w.dropped(typing(1)))
			w.pass(2 * sec)
			require.Equal(t, 2*sec, w.dropped(typing(1)), "it is no probe")
		})
	}
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.hold("paused")
		require.Zero(t, w.dropped(typing(1)))
	})
}

func TestTransientCallWaitsForTheBotForASecondAtMost(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.GlobalPerSecond = 2
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for chat := range int64(2) {
			w.spawn(message(chat+10), 0)
		}
		w.callers.Go(func() {
			require.Equal(t, sec, w.dropped(typing(2)))
		})
		w.callers.Wait()
		require.Equal(t, 3*sec/2, w.deliver(typing(1)))
	})
}

func TestTransientCallNeverDelaysItsChat(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		urgent := typing(1)
		urgent.Class = limiter.Urgent
		w.callers.Go(func() {
			require.Zero(t, w.dropped(urgent), "when the reply comes")
		})
		w.pass(0)
		bulk := message(1)
		bulk.Class = limiter.Bulk
		require.Less(t, w.deliver(bulk), 40*time.Millisecond)
	})
}

func TestWaitingTransientCallIsDroppedByAPenalty(t *testing.T) {
	t.Parallel()
	for _, silence := range []time.Duration{sec / 10, time.Hour} {
		inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
			w.callers.Go(func() {
				require.Zero(t, w.dropped(typing(1)))
			})
			w.pass(0)
			w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, silence)
			w.callers.Wait()
		})
	}
}

func TestTransientCallThatSpendsNothingWaitsForTheBotOnly(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		free := typing(1)
		free.Counts = false
		start := w.now()
		require.Equal(t, start, w.deliver(free))
		g.Done()
	})
}

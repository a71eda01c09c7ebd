package limiter_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func TestEarlierSinceGoesFirstInsideAChat(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		for _, age := range []time.Duration{1, 3, 2} {
			req := message(1)
			req.Since = time.Now().Add(-age)
			w.spawn(req, 0)
			w.pass(1)
		}
		g.Done()
		w.callers.Wait()
		require.NoError(t, w.ordered())
		require.Len(t, w.sends, 4)
	})
}

func TestChatsTakeTurns(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		for range 100 {
			w.spawn(message(1), 0)
		}
		w.pass(1)
		w.spawn(message(2), 0)
		w.spawn(message(3), 0)
		w.callers.Wait()
		require.Less(t, w.times(2)[0], 200*time.Millisecond)
		require.Less(t, w.times(3)[0], 200*time.Millisecond)
	})
}

func TestUrgentOvertakesABroadcast(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		for chat := range int64(5000) {
			req := message(chat + 10)
			req.Class = limiter.Bulk
			w.spawn(req, 0)
		}
		w.pass(time.Second)
		urgent := message(1)
		urgent.Class = limiter.Urgent
		require.LessOrEqual(t, w.deliver(urgent)-time.Second, 2*time.Second/28)
	})
}

func TestBroadcastMovesUnderConstantReplies(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		for range 35 * 60 {
			w.spawn(message(int64(w.count()%97+2)), 0)
		}
		bulk := message(1)
		bulk.Class = limiter.Bulk
		require.LessOrEqual(t, w.deliver(bulk), time.Second)
	})
}

func TestLongWaitForTheChatIsTold(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 3 {
			w.deliver(message(1))
		}
		for range 5 {
			w.spawn(message(1), 0)
		}
		w.pass(1)
		require.Equal(t, 6*time.Second-1, w.paced(message(1)), "behind five that wait")
		w.pass(1)
		require.Equal(t, 7*time.Second-2, w.paced(message(1)), "and behind a place kept")
		require.Equal(t, 5, w.Stats().Waiting[limiter.Normal], "a told call holds no slot")
	})
}

// toldToWait fills a group so that the next call is told 3 s × (behind + 1).
func (w *world) toldToWait() (limiter.Request, time.Duration) {
	for range 5 {
		w.deliver(message(-1))
	}
	w.spawn(message(-1), 0)
	w.pass(1)
	req := message(-1)
	req.Since = time.Now()
	return req, w.paced(req)
}

func TestCallBehindAPlaceIsToldWhenThatIsExpectedBack(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		album := message(-1)
		album.Items = 10
		g, s := w.acquire(album)
		require.Equal(t, 18*sec, w.paced(message(-1)), "behind the album")
		w.forget(s)
		g.Cancel()
		w.pass(1)
		require.Equal(t, 18*sec-1, w.paced(message(-1)), "the budget is free, but not its turn")
	})
}

func TestPlaceIsKeptForTwoSeconds(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		first, delay := w.toldToWait()
		require.Equal(t, 6*time.Second-1, delay)
		w.pass(delay - time.Second)
		later := message(-1)
		later.Since = time.Now()
		w.spawn(later, 0)
		w.pass(3*time.Second - 1)
		w.deliver(first)
		w.callers.Wait()
		require.NoError(t, w.ordered())
		require.Equal(t, []time.Duration{8*time.Second - 1, 9 * time.Second}, w.times(-1)[6:])
	})
}

func TestPlaceIsGivenUpAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		_, delay := w.toldToWait()
		w.pass(delay)
		require.Equal(t, 8*time.Second, w.deliver(message(-1)))
	})
}

func TestPlaceHoldsNoOtherClass(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		_, delay := w.toldToWait()
		w.pass(delay)
		urgent := message(-1)
		urgent.Class = limiter.Urgent
		require.Equal(t, 6*time.Second, w.deliver(urgent))
	})
}

func TestCallsBehindALateAnswerComeBack(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		begin := w.now()
		require.Equal(t, 5*time.Second, w.paced(message(1)))
		require.Equal(t, begin+5*time.Second, w.now(), "it waited for the answer first")
		require.Equal(t, 5*time.Second, w.paced(message(1)))
		require.Equal(t, begin+5*time.Second, w.now(), "now it is known to be late")
		g.Done()
	})
}

func TestCancelGivesTheBudgetBack(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		for range 3 {
			w.deliver(message(1))
		}
		w.pass(3 * time.Second)
		for range 10 {
			g, _ := w.acquire(message(1))
			g.Cancel()
			g.Cancel()
			g.Done()
		}
		require.Equal(t, 3*time.Second+3*(time.Second/28+1), w.now(), "as if nothing had been sent")
		require.Equal(t, 30, w.Stats().Tokens)
	})
}

func TestCallerThatLeavesIsTakenOutOfLine(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.Acquire(ctx, message(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = w.Acquire(ctx, message(2))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, [3]int{}, w.Stats().Waiting)
		g.Done()
		require.Zero(t, w.Stats().Chats)
	})
}

func TestStopTellsEveryone(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		for range 2 {
			w.callers.Go(func() { require.Equal(t, time.Second, w.paced(message(1))) })
		}
		w.pass(1)
		w.Stop()
		w.callers.Wait()
		require.Equal(t, time.Second, w.paced(message(2)))
		g.Done()
		require.Equal(t, [3]int{}, w.Stats().Waiting)
		require.Zero(t, w.Stats().InAir)
	})
}

func TestInvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	l := limiter.New(limiter.DefaultConfig())
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // one that is not refused must not wait
	for _, req := range []limiter.Request{
		{Chat: 1, Counts: true},
		{Chat: 1, Counts: true, Items: 1, Class: 3},
		{Chat: 1, Counts: true, Items: 1, Flow: "news", FlowPerSecond: 1e-9},
		{Chat: 1, Counts: true, Items: 1, Flow: "news", FlowPerSecond: 2e6},
		{Chat: 1, Counts: true, Items: 1, Flow: "news", FlowPerSecond: math.NaN()},
	} {
		_, err := l.Acquire(ctx, req)
		require.ErrorContains(t, err, "request: want")
	}
}

func TestConfigNamesEachFault(t *testing.T) {
	t.Parallel()
	require.NoError(t, limiter.DefaultConfig().Validate())
	require.NoError(t, limiter.Config{}.Validate())
	bad := limiter.Config{GlobalPerSecond: -1, PaidPerSecond: 2e6, ChatPerSecond: 1e-9, GroupPerMinute: -1, InFlight: -1, GroupCharge: -1}
	err := bad.Validate()
	for _, field := range []string{"GlobalPerSecond", "PaidPerSecond", "ChatPerSecond", "ChatBurst", "GroupPerMinute", "InFlight", "GroupCharge"} {
		require.ErrorContains(t, err, field)
	}
	require.Panics(t, func() { limiter.New(bad) })
}

func TestClassNamesAreThoseOfTheCommandLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "urgent", limiter.Urgent.String())
	require.Equal(t, "normal", limiter.Normal.String())
	require.Equal(t, "bulk", limiter.Bulk.String())
	require.Equal(t, "class(7)", limiter.Class(7).String())
}

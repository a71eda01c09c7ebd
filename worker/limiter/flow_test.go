package limiter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/worker/limiter"
)

// mail is a bulk call of a flow to a chat of its own.
func mail(flow string, chat int64) limiter.Request {
	req := message(chat)
	req.Class, req.Flow = limiter.Bulk, flow
	return req
}

// sent counts the grants of a flow so far.
func (w *world) sent(flow string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sends {
		if s.Flow == flow {
			n++
		}
	}
	return n
}

func TestFlowsTakeTurnsHoweverManyWaitInEach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		waiting := rapid.SliceOfN(rapid.IntRange(40, 300), 2, 4).Draw(rt, "waiting")
		inWorld(t, botOnly(), func(t *testing.T, w *world) {
			chat := int64(0)
			for flow, n := range waiting {
				for range n {
					chat++
					w.spawn(mail(fmt.Sprint(flow), chat), 40*time.Millisecond)
				}
			}
			w.pass(time.Second)
			least, most := 1000, 0
			for flow := range waiting {
				n := w.sent(fmt.Sprint(flow))
				least, most = min(least, n), max(most, n)
			}
			require.LessOrEqual(rt, most-least, 1)
			require.Positive(rt, least)
		})
	})
}

func TestAFlowKeepsToItsOwnRateAndHoldsUpNobody(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		for i := range int64(400) {
			slow := mail("slow", i+1)
			slow.FlowPerSecond = 2
			w.spawn(slow, 0)
			w.spawn(mail("quick", i+1001), 0)
		}
		w.pass(10 * time.Second)
		require.InDelta(t, 20, w.sent("slow"), 1)
		require.InDelta(t, 260, w.sent("quick"), 4)
		w.callers.Wait()
		require.NoError(t, w.pace(2, func(s *send) bool { return s.Flow == "slow" }))
	})
}

func TestTheNewestRequestSaysHowFastItsFlowIs(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		first, second := mail("news", 1), mail("news", 2)
		first.FlowPerSecond, second.FlowPerSecond = 0.1, 10
		require.Equal(t, 10*time.Second, w.deliver(first), "what was sent before it is not known")
		w.spawn(first, 0)
		w.pass(0)
		w.spawn(second, 0)
		require.GreaterOrEqual(t, w.deliver(second), 20*time.Second)
		require.Less(t, w.deliver(second), 21*time.Second)
	})
}

func TestAFlowKeepsToARateThatWasForgottenWhileItWaited(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
			news := mail("news", 0)
			news.FlowPerSecond = 1
			w.hold("test")
			for news.Chat = range int64(3) {
				w.spawn(news, 0)
			}
			w.pass(2 * sec)
			for i := range int64(100) {
				other := mail(fmt.Sprint(i), 100+i)
				other.FlowPerSecond = 1
				w.spawn(other, 0)
			}
			if news.Chat = 99; again {
				w.penalize(limiter.Scope{Chat: news.Chat}, sec)
				w.spawn(news, 0)
			}
			w.release("test")
			w.callers.Wait()
			require.NoError(t, w.pace(1, func(s *send) bool { return s.Flow == "news" }), "again: %v", again)
		})
	}
}

func TestALateCallDoesNotSlowItsFlow(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		news := mail("news", 1)
		news.FlowPerSecond = 10
		w.deliver(news)
		w.pass(105 * time.Millisecond)
		w.deliver(news)
		require.Equal(t, 300*time.Millisecond, w.deliver(news))
		w.pass(sec)
		w.deliver(news)
		require.Equal(t, 1390*time.Millisecond, w.deliver(news), "no more than a timer may be late")
	})
}

func TestBulkIsNotDueForWhatWentWhileItDidNotWait(t *testing.T) {
	t.Parallel()
	for _, pace := range []float64{0, 0.1} { // 0: no bulk at all at first
		inWorld(t, limiter.Config{GlobalPerSecond: 100}, func(t *testing.T, w *world) {
			slow := mail("slow", 999)
			if slow.FlowPerSecond = pace; pace > 0 {
				w.spawn(slow, 0)
			}
			for chat := range int64(300) {
				w.spawn(message(chat+1), 0)
			}
			w.pass(1900 * time.Millisecond)
			w.spawn(mail("news", 1000), 0)
			w.callers.Wait()
			require.InDelta(t, 2100*time.Millisecond, w.times(1000)[0], 1e7)
		})
	}
}

func TestAFlowMayLoseAndGetARateWhileItWaits(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		slow := mail("news", 1)
		slow.FlowPerSecond = 0.01
		w.spawn(slow, 0)
		w.spawn(mail("news", 2), 0)
		w.pass(time.Second)
		require.Equal(t, 2, w.sent("news"), "the newest has none")
		for chat := range int64(9) {
			slow.Chat = chat + 3
			w.spawn(slow, 0)
		}
		w.pass(50 * time.Second)
		require.LessOrEqual(t, w.sent("news"), 3)
	})
}

func TestRepliesDoNotWaitForThePaceOfAFlow(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		slow := mail("slow", 1)
		slow.FlowPerSecond = 0.01
		w.spawn(slow, 0)
		w.pass(time.Second)
		require.Equal(t, time.Second, w.deliver(message(1)), "in the same chat, too")
	})
}

func TestRepliesDoNotWaitForAFlowThatIsDueInTheirChat(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		slow := mail("slow", 1)
		slow.FlowPerSecond = 0.01
		w.spawn(slow, 0)
		for range 60 {
			w.spawn(message(1), 0)
		}
		w.pass(10 * time.Second)
		require.Len(t, w.times(1), 60, "bulk is passed over, and due, but not by its own rate")
		w.callers.Wait()
		require.Equal(t, 100*time.Second, w.times(1)[60])
	})
}

func TestBulkKeepsItsShareWhateverFlowsItHas(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		for i := range int64(600) {
			w.spawn(message(i+1), 0)
			paced := mail("paced", i+1001)
			paced.FlowPerSecond = 0.5
			w.spawn(paced, 0)
			w.spawn(mail("news", i+2001), 0)
			w.spawn(mail("", i+3001), 0)
		}
		w.pass(20 * time.Second)
		bulk := int(w.Stats().Granted[limiter.Bulk])
		require.InDelta(t, w.count()/20, bulk, 2)
		require.InDelta(t, 10, w.sent("paced"), 2, "its rate is below its share")
	})
}

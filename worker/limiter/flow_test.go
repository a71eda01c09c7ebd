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

func TestWhatIsPaidForSpendsABudgetBesideTheFreeOne(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.InFlight = 0
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for i := range int64(3000) {
			paid := mail("paid", i+1)
			paid.Paid = true
			w.spawn(paid, 0)
		}
		for i := range int64(100) {
			w.spawn(mail("free", i+5001), 0)
		}
		w.pass(time.Second)
		began := map[string]int{"paid": w.sent("paid"), "free": w.sent("free")}
		w.pass(time.Second)
		require.InDelta(t, 1000, w.sent("paid")-began["paid"], 12)
		require.InDelta(t, 28, w.sent("free")-began["free"], 1)
	})
}

func TestThePenaltyOfTheBotIsOnWhatIsPaidForToo(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		w.pass(time.Second)
		w.penalize(limiter.Scope{}, 3*time.Second)
		paid := mail("paid", 1)
		paid.Paid = true
		require.GreaterOrEqual(t, w.deliver(paid), 4*time.Second)
	})
}

func TestA429OfTheBotHalvesBothBudgets(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.PaidPerSecond = 100
	inWorld(t, cfg, func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, sec)
		w.deliver(mail("free", 9999)) // the probe
		w.handOver(cfg)
		for i := range int64(400) {
			paid := mail("paid", i+1)
			paid.Paid = true
			w.spawn(paid, 0)
			w.spawn(mail("free", i+1001), 0)
		}
		w.pass(3 * sec)
		paid, free := w.sent("paid"), w.sent("free")
		w.pass(2 * sec)
		require.InDelta(t, 100, w.sent("paid")-paid, 3)
		require.InDelta(t, 28, w.sent("free")-free, 2)
	})
}

func TestTheDebtOfWhatWasPaidForOutlivesAHandOver(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.PaidPerSecond = 10
	inWorld(t, cfg, func(t *testing.T, w *world) {
		album := mail("", 1)
		album.Items, album.Paid = 10, true
		w.pass(2 * sec)
		w.deliver(album)
		w.pass(1)
		w.handOver(cfg)
		one := mail("", 2)
		one.Paid = true
		require.InDelta(t, 3*sec, w.deliver(one), float64(lateness)+1)
	})
}

func TestFreeAndPaidShareTheSlotsInTheAir(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.InFlight = 3
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for i := range int64(20) {
			req := mail("", i+1)
			req.Paid = i%2 == 0
			w.spawn(req, time.Minute)
		}
		w.pass(10 * time.Second)
		require.Equal(t, 3, w.Stats().InAir)
		require.Equal(t, 3, w.count())
	})
}

package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

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
		w.penalize(limiter.Scope{}, time.Minute)
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
		require.NoError(t, w.windows(cfg))
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

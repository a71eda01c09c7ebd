package e2e_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G1: no update is lost. Only these tests catch an offset that passes an update
// which Temporal does not hold: the bot dies, or Temporal refuses, at each point
// between fetching and confirming.

func TestG1UpdatesSurviveAKillAfterTheFetch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killedAt(func(g *gateway, kill func()) {
		g.before = func(string) error {
			kill()
			return status.Error(codes.Unavailable, "killed")
		}
	})
}

func TestG1UpdatesSurviveAKillAfterTheFirstStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.killedAt(func(g *gateway, kill func()) {
		g.after = func(string) { kill() }
	})
}

func TestG1UpdatesSurviveAKillAfterTheLastStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var started atomic.Int64
	w.killedAt(func(g *gateway, kill func()) {
		g.after = func(string) {
			if started.Add(1) == killedBatch {
				kill()
			}
		}
	})
}

func TestG1UpdatesSurviveAKillBeforeTheOffsetMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fault(telegramsim.Fault{Method: "getUpdates", Nth: 2, Times: 1000, Kind: telegramsim.FaultHang})
	w.killedAt(func(_ *gateway, kill func()) {
		go func() {
			w.eventually("every update is answered", func() bool { return len(w.Ledger(0)) == killedBatch })
			kill()
		}()
	})
}

const killedBatch = 3

// killedAt lets a bot with three updates waiting be killed where arm says, runs
// another one, and checks that each update was handled and answered.
func (w *world) killedAt(arm func(g *gateway, kill func())) {
	var ids []int64
	for i := range killedBatch {
		ids = append(ids, w.SendText(1001+int64(i), fmt.Sprintf("hello %d", i)))
	}
	g := &gateway{}
	var victim atomic.Pointer[bot]
	arm(g, func() {
		w.eventually("the bot is known", func() bool { return victim.Load() != nil })
		_ = victim.Load().cmd.Process.Kill()
	})
	b := w.startVia(g.listen(w.t))
	victim.Store(b)
	b.wait()
	require.Equal(w.t, killedBatch, w.Pending(), "nothing was confirmed")
	w.ClearFaults()
	w.start()
	w.confirmed()
	for i, id := range ids {
		res, err := w.update(id)
		require.NoError(w.t, err)
		require.Equal(w.t, contract.Done, res.Outcome)
		w.onceOrFlagged(1001+int64(i), res)
	}
}

// onceOrFlagged checks that a chat got its one reply once, or that the second
// copy is said to be possible.
func (w *world) onceOrFlagged(chat int64, res contract.UpdateResult) {
	w.t.Helper()
	require.Len(w.t, res.Calls, 1)
	copies := len(w.Ledger(chat))
	if res.Calls[0].PossibleDuplicate {
		require.Contains(w.t, []int{1, 2}, copies)
		return
	}
	require.Equal(w.t, 1, copies)
}

func TestG1NothingIsConfirmedWhileTemporalStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.SendText(1001, "hello")
	var healed atomic.Bool
	g := &gateway{before: func(string) error {
		if healed.Load() {
			return nil
		}
		return status.Error(codes.Unavailable, "away")
	}}
	w.startVia(g.listen(t))
	w.eventually("the bot tried again", func() bool { return len(w.calls("getUpdates")) >= 2 })
	for _, r := range w.calls("getUpdates") {
		require.LessOrEqual(t, r.Offset, id)
	}
	require.Equal(t, 1, w.Pending())
	healed.Store(true)
	w.confirmed()
	_, err := w.update(id)
	require.NoError(t, err)
	require.Len(t, w.Ledger(1001), 1)
}

func TestG1TheOffsetStopsAtTheOneUpdateThatIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []int64
	for i := range int64(40) {
		ids = append(ids, w.SendText(2000+i, "hello"))
	}
	held := contract.UpdateID(w.bot, ids[20])
	var healed atomic.Bool
	g := &gateway{before: func(id string) error {
		if id == held && !healed.Load() {
			return status.Error(codes.Unavailable, "away")
		}
		return nil
	}}
	w.startVia(g.listen(t))
	w.eventually("all others are answered", func() bool { return len(w.Ledger(0)) == len(ids)-1 })
	w.eventually("the offset moved up to it", func() bool { return w.Confirmed() == ids[20] })
	healed.Store(true)
	w.confirmed()
	w.eventually("it is answered, too", func() bool { return len(w.Ledger(0)) == len(ids) })
	require.Len(t, w.runs(), len(ids), "those behind it were not handled twice")
}

func TestG1GarbageHoldsUpNothingAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.PushRaw([]byte(`"no update at all"`))
	w.PushRaw([]byte(`{"message":{}}`))
	broken := w.Push([]byte(`{"message":"not an object"}`))
	unknown := w.Push([]byte(`{"news_from_tomorrow":{"x":1}}`))
	good := w.SendText(1001, "hello")
	b := w.start().ready()
	w.confirmed()
	_, err := w.update(good)
	require.NoError(t, err)
	_, err = w.update(unknown)
	require.NoError(t, err)
	_, err = w.update(broken)
	require.ErrorContains(t, err, "undecodable")
	require.Equal(t, []string{"re: hello"}, w.texts(1001))
	code, took := b.stop()
	require.Zero(t, code)
	require.Less(t, took, 25*time.Second)
}

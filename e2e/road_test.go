package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A failure of the road is no failure of a message. Only these tests catch an
// outage that uses up attempts, or that is met with a storm of them.

func TestRoadMessagesOutliveHalfAMinuteOf502(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	ids := w.twenty()
	for _, method := range []string{"", "getUpdates"} {
		w.Fault(telegramsim.Fault{Method: method, Kind: telegramsim.FaultStatus})
	}
	began := time.Now()
	w.eventually("the bot says so", func() bool { return b.degraded() })
	w.pass(began.Add(30 * time.Second))
	w.ClearFaults()
	ended := time.Now()
	w.onceInOrder()
	for _, id := range ids {
		res, err := w.update(id)
		require.NoError(t, err)
		require.Equal(t, contract.Delivered, res.Calls[0].Outcome)
	}
	for _, r := range w.to(0) {
		held := r.Arrived.After(began.Add(15*time.Second)) && r.Arrived.Before(ended)
		require.False(t, held, "one getMe asks for all of them")
	}
	w.eventually("it is well again", func() bool { return b.well() })
}

// twenty has twenty messages handled, two in each of ten chats, whose replies
// are about to leave.
func (w *world) twenty() []int64 {
	w.t.Helper()
	var ids []int64
	for n := range 2 {
		for chat := range int64(10) {
			ids = append(ids, w.SendText(1001+chat, fmt.Sprintf("slow 3s %d", n+1)))
		}
	}
	w.eventually("the first ones are handled", func() bool { return len(w.runs()) == 10 })
	w.eventually("all are stored", func() bool { return w.Pending() == 0 })
	return ids
}

// onceInOrder waits until the twenty are answered and checks how.
func (w *world) onceInOrder() {
	w.t.Helper()
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) >= 20 })
	w.inOrder()
}

// inOrder checks that each of the ten chats has its two answers, once.
func (w *world) inOrder() {
	w.t.Helper()
	for chat := range int64(10) {
		require.Equal(w.t, []string{"re: slow 3s 1", "re: slow 3s 2"}, w.texts(1001+chat))
	}
}

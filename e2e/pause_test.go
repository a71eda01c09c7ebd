package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A pause stops all sending and loses nothing. Only this test catches a pause
// that ends with the process that was told of it.

func TestPauseNothingLeavesUntilItIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, other := w.pair()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.must("pause", "--reason", "a test")
	began := time.Now()
	for _, said := range []string{"A", "B", "C"} {
		w.SendText(1001, said)
	}
	sent := w.row(text(2000, "one"), text(2000, "two"))
	w.confirmed() // what comes in is stored all the same
	w.eventually("the first one is handled", func() bool { return len(w.runs()) >= 1 })
	stopped := time.Now()
	endings["stopped"].leave(holder)
	other.polls(stopped)
	w.shows("the pause", func(s stats) bool { return s.of(other) && s.Paused != nil && s.Paused.Reason == "a test" })
	w.pass(began.Add(10 * time.Second))
	require.Empty(t, w.to(0), "nothing has left")
	w.must("resume")
	w.eventually("all is sent", func() bool { return len(w.Ledger(0)) == 5 })
	require.Equal(t, []string{"re: A", "re: B", "re: C"}, w.texts(1001))
	require.Equal(t, []string{"one", "two"}, w.texts(2000))
	for _, res := range w.outcomes(sent...) {
		require.Equal(t, contract.Delivered, res.Outcome)
	}
	require.Nil(t, w.stats().Paused)
}

package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// A stop must lose and double nothing and be over in time.

func TestStopEndsInTimeAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start("--chat-per-second", "1", "--chat-burst", "3").ready()
	for chat := range int64(10) {
		w.SendText(1000+chat, "slow 4s")
	}
	w.SendText(2000, "many 20") // most of it queued behind the chat's window
	w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 3000, Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: 5 * time.Second})
	w.SendText(3000, "in the air")
	w.eventually("the handlers run", func() bool { return len(w.runs()) == 12 })
	w.eventually("one is in the air", func() bool { return len(w.Ledger(3000)) == 1 })
	before := len(w.calls("getUpdates"))
	code, took := b.stop()
	require.Zero(t, code)
	require.Less(t, took, 25*time.Second)
	require.LessOrEqual(t, len(w.calls("getUpdates")), before+2, "intake ended at once")
	w.start()
	w.eventually("all is answered", func() bool { return len(w.Ledger(2000)) == 20 })
	for chat := range int64(10) {
		w.eventually("a slow one is answered", func() bool { return len(w.Ledger(1000+chat)) == 1 })
	}
	require.Len(t, w.Ledger(3000), 1, "its answer was stored")
	texts := w.texts(2000)
	require.Len(t, slices.Compact(slices.Clone(texts)), 20, "each once, in order")
	require.True(t, strings.HasSuffix(texts[19], "20 of 20"))
	require.Len(t, w.runs(), 12)
}

func TestStopASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start("--handler-timeout", "60s").ready()
	w.SendText(1001, "slow 50s")
	w.eventually("the handler runs", func() bool { return len(w.runs()) == 1 })
	b.signal(syscall.SIGTERM)
	w.eventually("it is stopping", func() bool { return b.logged("intake and grants stopped", "level") != "" })
	b.signal(syscall.SIGTERM)
	began := time.Now()
	b.wait()
	require.Less(t, time.Since(began), 5*time.Second)
}

func TestStopANewBotWaitsForTemporalAndFetchesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SendText(1001, "hello")
	b := w.startVia("127.0.0.1:1") // nothing listens there
	w.eventually("it is alive", func() bool { status, _ := b.get("/healthz"); return status == http.StatusOK })
	w.eventually("it says what it waits for", func() bool {
		status, text := b.get("/readyz")
		require.Equal(t, http.StatusServiceUnavailable, status)
		return strings.Contains(text, "TEMPORAL_ADDRESS")
	})
	require.Empty(t, w.calls("getUpdates"))
	code, _ := b.stop()
	require.Zero(t, code)
}

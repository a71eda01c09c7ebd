package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The heartbeat URL hears of a bot that works, and of no other. Only this test
// catches a stand-by that covers up for a sender that is dead or stuck.

func TestHeartbeatOnlyTheProcessOnDutyIsHeardAndOnlyWhileItIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var beats [2]atomic.Int64
	var urls [2]string
	for i := range beats {
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { beats[i].Add(1) }))
		t.Cleanup(server.Close)
		urls[i] = server.URL
	}
	holder := w.start("--heartbeat-url", urls[0]).onDuty()
	other := w.start("--heartbeat-url", urls[1]).ready()
	w.eventually("the holder is heard", func() bool { return beats[0].Load() == 1 })
	w.eventually("it is heard again within its minute", func() bool { return beats[0].Load() >= 2 })
	require.Zero(t, beats[1].Load(), "a stand-by is silent")
	w.Fault(telegramsim.Fault{
		Method: "getUpdates", Kind: telegramsim.FaultStatus, Status: http.StatusConflict,
		Body: `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`,
	})
	w.eventually("the one on duty is not ready", func() bool { return holder.notReady("conflict") || other.notReady("conflict") })
	heard, terms := beats[0].Load(), holder.terms()
	w.pass(time.Now().Add(70 * time.Second))
	// A process that has just taken the duty does not know yet that it is deaf.
	require.LessOrEqual(t, beats[0].Load(), heard+int64(holder.terms()-terms), "nobody hears of a bot that is deaf")
	require.LessOrEqual(t, beats[1].Load(), int64(other.terms()))
}

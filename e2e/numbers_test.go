package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// What the numbers say is so. Only these tests catch a count that is right in a
// test of its own and counts something else on a real server.

func TestNumbersOfABotWithNothingToDoAreZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.shows("nothing", func(s stats) bool {
		return s.Limiter != nil && s.InboxUnhandled+s.QueueDepth+s.OldestPendingAge+s.DeadOpen+s.DeadLast24h+s.DeliveredLast24h == 0
	})
}

func TestNumbersTellWhatWaitsAndHowLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start("--global-per-second", "0", "--chat-per-second", "0", "--handler-timeout", "2m").onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.SendText(1001, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.must("pause", "--reason", "a test")
	began := time.Now()
	w.SendText(1001, "waits to be answered")
	w.shows("one waits", func(s stats) bool { return s.QueueDepth == 1 && s.InboxUnhandled == 0 })
	w.SendText(1001, "waits for its turn")
	w.SendText(1002, "slow 60s")
	w.bulk(150, func(int) contract.Call { return text(2000, "bulk") })
	w.send(2000, "--text", "tomorrow", "--in", "24h")
	w.shows("all of it", func(s stats) bool { return s.QueueDepth == 151 && s.InboxUnhandled == 2 })
	s := w.stats()
	require.InDelta(t, time.Since(began).Seconds(), s.OldestPendingAge, 3)
	require.Equal(t, 1, s.DeliveredLast24h)
	status, body := b.get("/api/v1/stats")
	require.Equal(t, http.StatusOK, status)
	var page stats
	require.NoError(t, json.Unmarshal([]byte(body), &page))
	require.Equal(t, s.QueueDepth, page.QueueDepth)
	w.must("resume")
	w.shows("nothing waits", func(s stats) bool { return s.QueueDepth == 0 })
	w.shows("what was delivered", func(s stats) bool { return s.DeliveredLast24h == len(w.Ledger(0)) })
}

func TestNumbersOfDeliveriesOutliveTheirProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	for range 5 {
		w.SendText(1001, "hello")
	}
	w.shows("five", func(s stats) bool { return s.DeliveredLast24h == 5 })
	b.kill()
	w.start().onDuty()
	w.shows("still five", func(s stats) bool { return s.DeliveredLast24h == 5 })
}

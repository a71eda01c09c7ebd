package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G8: a person's reply overtakes a broadcast, and a broadcast still moves under
// constant replies. Only these tests catch a queue without classes in front of
// the limiter, the server's above all: there is far more to send than it holds.

func TestG8RepliesOvertakeWaitingBulk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const rate, bulk, people = 14, 400, 5
	for i := range int64(bulk) {
		w.CreateChat(telegramsim.Chat{ID: 5000 + i})
	}
	w.start("--global-per-second", fmt.Sprint(rate)).onDuty()
	w.bulk(bulk, func(i int) contract.Call { return text(5000+int64(i), "news") })
	began := time.Now()
	for i := range people {
		w.pass(began.Add(time.Duration(i) * time.Second))
		w.SendText(1001+int64(i), "hello")
	}
	w.eventually("all are answered", func() bool {
		for i := range int64(people) {
			if len(w.Ledger(1001+i)) == 0 {
				return false
			}
		}
		return true
	})
	require.Less(t, int(w.Accepted()), bulk, "the bulk is not over yet")
	for i := range int64(people) {
		said := w.Messages(1001 + i)
		require.Less(t, said[1].Seq-said[0].Seq, int64(4*rate), "four seconds' worth of calls before a reply")
	}
	w.eventually("the bulk is sent, too", func() bool { return w.Accepted() == bulk+people })
}

func TestG8BulkMovesUnderConstantReplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const people, each, bulk, calls = 75, 3, 20, 120
	for i := range int64(bulk) {
		w.CreateChat(telegramsim.Chat{ID: 5000 + i})
	}
	w.start("--global-per-second", "5").onDuty()
	w.must("pause", "--reason", "until all of it waits")
	for i := range int64(people * each) {
		w.SendText(1001+i%people, "hello")
	}
	w.bulk(bulk, func(i int) contract.Call { return text(5000+int64(i), "news") })
	w.shows("all of it waits", func(s stats) bool {
		return s.Limiter != nil && s.Limiter.Waiting[contract.Bulk] == bulk && s.Limiter.Waiting[contract.Normal] > 20
	})
	already := int(w.Accepted())
	w.must("resume")
	w.eventually("more calls are made", func() bool { return int(w.Accepted()) >= already+calls })
	require.Greater(t, len(w.runs())+bulk, already+calls, "replies still wait")
	moved := 0
	for _, m := range w.Ledger(0)[already : already+calls] {
		if !strings.HasPrefix(m.Text, "re: ") {
			moved++
		}
	}
	require.GreaterOrEqual(t, moved, calls/20-1, "5 %, less one for where the count begins")
}

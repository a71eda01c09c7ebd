package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G7: no sliding window above the limits, all methods and code paths together.
// Only these tests catch a budget that a new process begins afresh, and a way to
// Telegram that goes around it: a 429 is counted where it is made.

const group = -4002

func TestG7AGroupAtItsLimitStaysThereAcrossAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	holder, other := w.pair()
	w.SendText(group, "many 26")
	w.eventually("it has had ten", func() bool { return len(w.Ledger(group)) >= 10 })
	began := time.Now()
	endings["stopped"].leave(holder)
	other.polls(began)
	w.eventually("all are sent", func() bool { return len(w.Ledger(group)) >= 26 })
	require.Equal(t, replies(26), w.texts(group))
	require.LessOrEqual(t, most(w.to(group), time.Minute), 20)
	w.obeyed()
}

// A kill loses what the last heartbeats did not say, so the successor may send
// that much more.
func TestG7AGroupAtItsLimitIsPassedByTheLastSecondsOnlyAfterAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, other := w.pair()
	w.SendText(group, "many 18")
	w.eventually("it has had eight", func() bool { return len(w.Ledger(group)) >= 8 })
	died := time.Now()
	holder.kill()
	other.polls(died)
	w.eventually("all are sent", func() bool { return w.last(group) == "re: 18 of 18" })
	require.Equal(t, replies(18), slices.Compact(w.texts(group)))
	untold := slices.DeleteFunc(w.to(group), func(r telegramsim.Request) bool {
		return r.Arrived.After(died) || r.Arrived.Before(died.Add(-beats))
	})
	require.LessOrEqual(t, most(w.to(group), time.Minute), 20+len(untold))
}

// beats is what a kill may lose: a heartbeat comes every 3 s, and takes up to 2 s.
const beats = 5 * time.Second

func TestG7AllMethodsAndAllWaysSpendOneBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	w.start().onDuty()
	w.SendText(group, "hello")
	w.eventually("there is a message to edit", func() bool { return len(w.Ledger(group)) == 1 })
	edited := w.Ledger(group)[0].ID
	w.SendText(group, "many 8")
	w.SendText(1001, "many 9")
	began := time.Now()
	var all []string
	for i := range 20 {
		w.pass(began.Add(time.Duration(i) * 500 * time.Millisecond))
		all = append(all, w.row(edit(group, edited, fmt.Sprintf("edit no %d", i)))...)
		w.SendText(1001, "typing")
		switch i % 4 {
		case 0:
			all = append(all, w.row(text(group, "by the way"))...)
		case 1:
			w.SendText(group, "typing")
		case 2:
			all = append(all, w.row(typing(group))...)
		}
	}
	for _, res := range w.outcomes(all...) {
		require.Contains(t, []contract.Outcome{contract.Delivered, contract.Superseded, contract.Dropped}, res.Outcome)
	}
	require.Equal(t, "edit no 19", w.Ledger(group)[0].Text, "the newest edit is the one that stands")
	w.eventually("all is answered", func() bool { return len(w.Ledger(group)) == 1+8+5+5 && len(w.Ledger(1001)) == 9+20 })
	require.LessOrEqual(t, most(w.to(group), time.Minute), 20)
	require.LessOrEqual(t, most(w.to(1001), 3*time.Second), 3)
	w.obeyed()
}

func TestG7ALoadKeepsToTheLimitsWhateverBecomesOfItsHolder(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"stopped", "killed"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, telegramsLimits)
			for i := range int64(100) {
				w.CreateChat(telegramsim.Chat{ID: 1001 + i})
			}
			holder, other := w.pair()
			ids := w.bulk(300, func(i int) contract.Call { return text(1001+int64(i%100), fmt.Sprintf("no %d", i)) })
			w.eventually("it is under way", func() bool { return w.Accepted() >= 100 })
			began := time.Now()
			endings[name].leave(holder)
			other.polls(began)
			flagged := 0
			for _, res := range w.outcomes(ids...) {
				require.Equal(t, contract.Delivered, res.Outcome)
				if res.PossibleDuplicate {
					flagged++
				}
			}
			// Also after a clean stop one may be flagged: this server may have given a
			// call to a poll that was cut in that moment, and nobody knows what became of it.
			require.LessOrEqual(t, len(w.Ledger(0)), len(ids)+flagged)
			if endings[name].clean {
				require.Len(t, w.Ledger(0), len(ids), "a stop doubles nothing")
			}
			require.LessOrEqual(t, most(w.to(0), time.Second), 30)
			w.obeyed()
			w.oneVoice()
		})
	}
}

func TestG7APublicNameAndItsNumberSpendOneBudget(t *testing.T) {
	t.Parallel()
	const channel = -1001234567890
	w := newWorld(t, func(o *telegramsim.Options) { o.Limits = telegramsim.Limits{PerGroup: 8} })
	w.CreateChat(telegramsim.Chat{ID: channel, Type: "channel", Title: "News", Username: "durabot_news"})
	b := w.start("--group-per-minute", "8").onDuty()
	for i := range 5 {
		w.send(channel, "--text", fmt.Sprintf("by number %d", i))
		w.must("send", "--chat", "@Durabot_News", "--text", fmt.Sprintf("by name %d", i))
	}
	// The ninth may not leave before a minute has passed, whatever the machine does.
	require.Eventually(t, func() bool { return len(w.Ledger(channel)) == 10 }, 3*time.Minute, 100*time.Millisecond, "all are sent")
	require.LessOrEqual(t, most(w.to(channel), time.Minute), 8)
	require.LessOrEqual(t, len(w.calls("getChat")), b.terms(), "once in each term")
	w.obeyed()
}

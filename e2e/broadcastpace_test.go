package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Broadcasts share what a bot may send: with people, with each other, and with
// what they were told to keep to. Only these tests catch a flow that is lost
// between the command line and the budget.

// turns are whose turn each of the bot's messages was, oldest first: the text
// of a broadcast, or "" for anything else.
func (w *world) turns(texts ...string) []string {
	var all []string
	for _, m := range w.Ledger(0) {
		if slices.Contains(texts, m.Text) {
			all = append(all, m.Text)
		} else {
			all = append(all, "")
		}
	}
	return all
}

// mail starts a broadcast of a text that is also its name.
func (w *world) mail(text, audience string, flags ...string) {
	w.t.Helper()
	w.must(append([]string{"broadcast", "start", text, "--audience", audience, "--text", text, "--yes"}, flags...)...)
}

func TestTwoBroadcastsTakeTurnsHoweverLargeTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	large, small := w.audience(10_000, 600), w.audience(20_000, 100)
	w.start().onDuty()
	w.mail("large", large)
	w.eventually("it is on its way", func() bool { return w.Accepted() > 30 })
	w.mail("small", small)
	w.eventually("the small one has ended", func() bool { return w.mailing("small").State == "done" })
	turns := w.turns("large", "small")
	first, last := slices.Index(turns, "small"), len(turns)-1
	for turns[last] != "small" {
		last--
	}
	// Of the messages between, every second one is the small one's where a busy
	// machine leaves none of its turns unused, and one in seven would be by size.
	// That a batch is ready for its turn is tested with the batch.
	require.GreaterOrEqual(t, last-first, 140, "the small one does not go first")
	require.LessOrEqual(t, last-first, 300, "nor the large one")
	require.Positive(t, w.mailing("large").Pending, "the large one goes on")
	w.must("broadcast", "cancel", "large", "--reason", "seen", "--yes")
	w.obeyed()
}

func TestPeopleAreAnsweredBesideABroadcast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	const rate, people = 28, 5
	w.start().onDuty()
	w.mail("news", w.audience(5000, 500))
	w.eventually("it is on its way", func() bool { return w.Accepted() > rate })
	began := time.Now()
	for i := range int64(people) {
		w.pass(began.Add(time.Duration(i) * time.Second))
		w.SendText(1001+i, "hello")
	}
	w.eventually("all are answered", func() bool {
		return !slices.ContainsFunc([]int64{1001, 1002, 1003, 1004, 1005}, func(chat int64) bool { return w.last(chat) == "" })
	})
	require.Positive(t, w.mailing("news").Pending, "it is not over yet")
	for i := range int64(people) {
		said := w.Messages(1001 + i)
		require.Less(t, said[1].Seq-said[0].Seq, int64(4*rate), "four seconds' worth of calls before a reply")
	}
	w.must("broadcast", "cancel", "news", "--reason", "seen", "--yes")
	w.obeyed()
}

func TestABroadcastKeepsToItsRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, rate = 31, 5
	w.start().onDuty()
	w.mail("news", w.audience(5000, n), "--rate", fmt.Sprint(rate), "--wait")
	calls := w.to(0)
	require.Len(t, calls, n)
	took := calls[n-1].Arrived.Sub(calls[0].Arrived)
	require.Greater(t, took, (n-1)*time.Second/rate-200*time.Millisecond, "one message each 200 ms, and at most one of them late")
}

func TestAPaidBroadcastLeavesTheFreeRateToPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, telegramsLimits)
	const n = 600
	file := w.audience(5000, n)
	w.start("--global-per-second", "5").onDuty()
	out := w.must("broadcast", "start", "news", "--audience", file, "--text", "news", "--paid", "--dry-run")
	require.Contains(t, out, "Stars")
	began := time.Now()
	w.mail("news", file, "--paid", "--wait")
	require.Less(t, time.Since(began), n*time.Second/5/2, "half of what it takes at the free rate")
	w.SendText(1001, "hello")
	w.eventually("a person is answered", func() bool { return w.last(1001) == "re: hello" })
	for _, r := range w.to(0) {
		paid := r.Params["allow_paid_broadcast"] == "true"
		require.Equal(t, r.ChatID != 1001, paid, "the broadcast is paid for, and nothing else")
	}
	require.Positive(t, w.StarsSpent())
	require.LessOrEqual(t, w.StarsSpent(), float64(n)/10)
	w.obeyed()
}

func TestABroadcastIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Block(5003)
	file := w.audience(5000, 40)
	w.start().onDuty()
	w.mail("news", file, "--rate", "20")
	watched := w.must("broadcast", "status", "news", "--watch", "--every", "200ms", "-o", "json")
	pictures := strings.Split(strings.TrimSpace(watched), "\n}\n")
	require.Greater(t, len(pictures), 2)
	last := parse[mailing](t, strings.TrimSuffix(pictures[len(pictures)-1], "\n}")+"\n}")
	require.Equal(t, mailing{State: "done", Total: 40, Delivered: 39, Unreachable: 1, Actions: last.Actions}, last)

	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	w.must("broadcast", "start", "later", "--audience", file, "--text", "later", "--at", at, "--yes")
	waited := make(chan int, 1)
	go func() {
		_, code := w.durabot("broadcast", "start", "later", "--audience", file, "--text", "later", "--at", at, "--yes", "--wait")
		waited <- code
	}()
	w.must("broadcast", "cancel", "later", "--reason", "seen", "--yes")
	require.Equal(t, 1, <-waited, "it was cancelled")
	require.Len(t, w.Ledger(0), 39)
}

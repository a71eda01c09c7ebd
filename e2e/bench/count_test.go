package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// epoch is when the ledgers of these tests begin.
var epoch = time.Unix(1_800_000_000, 0)

func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

// asked is a load of texts that were all written at the epoch.
func asked(texts ...string) *load {
	w := newLoad(nil, "", 7)
	for _, text := range texts {
		w.sent[text] = epoch
		w.chat[7] = append(w.chat[7], text)
	}
	return w
}

// said is a ledger of one chat with a message each second.
func said(texts ...string) []message {
	var all []message
	for n, text := range texts {
		all = append(all, message{ChatID: 7, Text: text, Time: at(float64(n + 1))})
	}
	return all
}

func TestEveryReplyThatIsMissingDoubledOrOutOfOrderIsCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                    string
		said                    []string
		lost, doubled, inverted float64
	}{
		{"all in order", []string{"a", "b", "c"}, 0, 0, 0},
		{"one missing", []string{"a", "c"}, 1, 0, 0},
		{"one twice", []string{"a", "a", "b", "c"}, 0, 1, 0},
		{"one too early", []string{"b", "a", "c"}, 0, 0, 1},
		{"nothing", nil, 3, 0, 0},
		{"another message between", []string{"a", "news", "news", "b", "c"}, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lost, doubled, inverted := asked("a", "b", "c").faults(said(c.said...))
			require.Equal(t, []float64{c.lost, c.doubled, c.inverted}, []float64{lost, doubled, inverted})
		})
	}
}

func TestTheFirstOfSeveralRepliesCounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{1000, 3000}, asked("a", "b").latencies(said("a", "other", "b", "a")))
}

func TestAReplyThatNeverCameHasNotBeenFast(t *testing.T) {
	t.Parallel()
	w := asked("a", "b")
	w.sent["b"] = time.Now().Add(-time.Hour)
	all := w.latencies(said("a"))
	require.Len(t, all, 2)
	require.GreaterOrEqual(t, all[1], float64(time.Hour/time.Millisecond))
}

func TestRepliesAfterTheEndAndMessagesToOthersAreNoRepliesInTime(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, asked("a", "b").repliedBy(at(3), said("a", "other", "b")), 0)
}

func TestTheEvenRateLeavesOutBeginAndEnd(t *testing.T) {
	t.Parallel()
	var ledger []message
	for n := range 100 {
		ledger = append(ledger, message{Time: at(float64(n) / 28)})
	}
	require.InDelta(t, 28, evenRate(ledger), 0.001)
	ledger[0].Time, ledger[99].Time = at(-100), at(100)
	require.InDelta(t, 28, evenRate(ledger), 0.001)
}

func TestTheFullestWindowIsFoundWhereverItBegins(t *testing.T) {
	t.Parallel()
	calls := []time.Time{at(0), at(59), at(60), at(118.9), at(119)}
	require.InDelta(t, 3, most(calls, time.Minute), 0, "a call leaves the window when it is as old as the window is long")
	require.InDelta(t, 2, most(calls, time.Second), 0)
	require.InDelta(t, 2, most([]time.Time{at(5), at(1)}, 5*time.Second), 0, "in whatever order they were logged")
	require.Zero(t, most(nil, time.Minute))
}

func TestCallsBeforeTheEndOfAPenaltyAreCounted(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 2, within([]time.Time{at(0), at(29.9), at(30), at(31)}, at(30)), 0)
}

func TestTheShareOfABroadcastIsThatOfItsTime(t *testing.T) {
	t.Parallel()
	ledger := between(said("bulk", "a", "bulk", "b", "bulk"), at(1), at(5))
	require.Len(t, ledger, 3)
	require.InDelta(t, 1, bulkOf(ledger), 0)
}

func TestAPercentileIsTheFirstValueAboveThatShare(t *testing.T) {
	t.Parallel()
	var all []float64
	for n := range 100 {
		all = append(all, float64(n))
	}
	require.InDelta(t, 95, percentile(all, 95), 0)
	require.InDelta(t, 0, percentile(all[:1], 99), 0)
}

// calls are one to a chat each second, from the first on.
func calls(n int) []request {
	var all []request
	for i := range n {
		all = append(all, request{ChatID: 7, Arrived: at(float64(i) + 0.5)})
	}
	return append(all, request{Arrived: at(1)}) // a poll
}

func TestARateIsThatOfItsTimes(t *testing.T) {
	t.Parallel()
	s := spans{{at(0), at(10)}, {at(20), at(15)}, {at(90), at(110)}}
	require.InDelta(t, 20.0/30, s.rate(calls(100)), 0.001, "ten in the first, ten in the last; one that ends before it begins is none")
}

func TestWhatPeopleWroteBetweenTheTimesIsLeftOut(t *testing.T) {
	t.Parallel()
	w := asked("a", "b", "c")
	w.sent["b"], w.sent["c"] = at(5), at(20)
	some := w.during(spans{{at(1), at(20)}})
	require.Equal(t, map[string]time.Time{"b": at(5)}, some.sent)
}

func TestRefusalsThatWereArrangedAreNotOurs(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 1, limited([]request{{Status: 429}, {Status: 429, Fault: 3}, {Status: 200}}), 0)
}

package telegramsim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The log's cap is too high to be reached through the handler in a test.

func TestRequestLogForgetsItsOldestEntries(t *testing.T) {
	t.Parallel()
	l := requestLog{byMethod: map[string]int64{}, polls: map[*Request]bool{}}
	for range maxRequests + 3 {
		l.add(&Request{Method: "getMe"})
	}
	list := l.last(maxRequests + 10)
	require.Len(t, list, maxRequests)
	require.Equal(t, int64(4), list[0].Seq)
	require.Equal(t, int64(maxRequests+3), list[len(list)-1].Seq)
	require.Equal(t, int64(maxRequests+2), l.last(2)[0].Seq)
	require.Equal(t, int64(maxRequests+3), l.byMethod["getMe"], "counters go on")
}

func TestRequestCountersAreBounded(t *testing.T) {
	t.Parallel()
	l := requestLog{byMethod: map[string]int64{}, polls: map[*Request]bool{}}
	for n := range maxMethods * 2 {
		l.add(&Request{Method: string(rune('a' + n))})
	}
	require.Len(t, l.byMethod, maxMethods)
}

func TestOverlapForgivesOnlyAPollThatHungUpInTime(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, c := range []struct {
		name    string
		hung    bool
		after   time.Duration // from the newer poll's arrival to the older one's end
		overlap bool
	}{
		{"hung up at once", true, handOver - 1, false},
		{"hung up late", true, handOver, true},
		{"answered, however soon", false, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			older, newer := &Request{Arrived: start, Hung: c.hung}, &Request{Arrived: start.Add(time.Second)}
			l := requestLog{polls: map[*Request]bool{older: true, newer: true}}
			l.close(older, 200, newer.Arrived.Add(c.after))
			require.Equal(t, c.overlap, older.Overlapped)
			require.Equal(t, c.overlap, newer.Overlapped)
		})
	}
}

func TestWindowTellsTheExactWait(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var w window
	w.add(start, 2)
	w.add(start.Add(time.Second), 1)
	now := start.Add(2 * time.Second)
	require.Zero(t, w.wait(now, 10*time.Second, 4, 1), "room for one more")
	require.Equal(t, 8*time.Second, w.wait(now, 10*time.Second, 4, 2), "the oldest must leave")
	require.Equal(t, 9*time.Second, w.wait(now, 10*time.Second, 4, 4), "both must leave")
	require.Equal(t, 9*time.Second, w.wait(now, 10*time.Second, 4, 99), "heavier than the limit waits for an empty window")
	require.Zero(t, w.wait(start.Add(11*time.Second), 10*time.Second, 4, 4), "exactly one span later it is empty")
	require.Empty(t, w.hits)
}

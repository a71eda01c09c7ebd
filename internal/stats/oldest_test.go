package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/stats"
)

// tolerance is how far an age may be off.
func tolerance(age time.Duration) time.Duration {
	switch {
	case age <= time.Hour:
		return 2 * time.Second
	case age <= 8*time.Hour:
		return age / 1000
	default:
		return age / 500
	}
}

// queue is a number of calls that wait for up to a year, some of them much longer
// than the rest.
func queue(t *rapid.T, now time.Time) []time.Time {
	n := rapid.SampledFrom([]int{0, 1, 2, 99, 100, 101, 102, 1000, 100_000}).Draw(t, "n")
	longest := math.Exp(rapid.Float64Range(0, math.Log(366*24*3600)).Draw(t, "log of the seconds of the oldest"))
	spread := rapid.SampledFrom([]float64{0, 1e-5, 0.01, 0.5, 1}).Draw(t, "spread")
	outliers := rapid.IntRange(0, 200).Draw(t, "outliers")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)) //nolint:gosec // a test
	since := make([]time.Time, n)
	for i := range since {
		age := longest * (1 - spread*random.Float64())
		if i >= outliers {
			age /= 1000
		}
		since[i] = now.Add(-time.Duration(age * float64(time.Second)))
	}
	slices.SortFunc(since, time.Time.Compare)
	return since
}

func TestTheAgeOfTheOldestIsFoundByTwentyRequests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &store{since: queue(t, time.Now())}
		got, err := stats.Ask(t.Context(), s, "bots", bot, true)
		require.NoError(t, err)
		require.LessOrEqual(t, s.requests.Load(), int64(20))
		require.LessOrEqual(t, s.listed.Load(), int64(100), "many are counted")
		require.Equal(t, int64(len(s.since)), got.QueueDepth)
		if len(s.since) == 0 {
			require.Zero(t, got.OldestPendingAge)
			return
		}
		found, truth := time.Duration(got.OldestPendingAge)*time.Second, time.Since(s.since[0])
		off := tolerance(truth)
		require.LessOrEqual(t, found, truth+off)
		require.Greater(t, found, truth-off-time.Second, "a slow machine may take a second")
	})
}

// A single one a step of the search before the rest is found by the last count,
// which leaves no request for a list.
func TestTheLongestSearchHasNoListBehindIt(t *testing.T) {
	t.Parallel()
	for i := range 50 {
		age := time.Duration(float64(100*24*time.Hour) * (1 + float64(i)*0.0003))
		s := &store{since: []time.Time{time.Now().Add(-age * 1001 / 1000)}}
		for range 1000 {
			s.since = append(s.since, time.Now().Add(-age))
		}
		_, err := stats.Ask(t.Context(), s, "bots", bot, true)
		require.NoError(t, err)
		require.LessOrEqual(t, s.requests.Load(), int64(20), age)
	}
}

func TestAFewAreListedAndTheirAgeIsExact(t *testing.T) {
	t.Parallel()
	since := []time.Time{time.Now().Add(-3*time.Hour - 7*time.Second)}
	for range 99 {
		since = append(since, time.Now().Add(-time.Minute))
	}
	s := &store{since: since}
	got, err := stats.Ask(t.Context(), s, "bots", bot, true)
	require.NoError(t, err)
	require.InDelta(t, 3*3600+7, got.OldestPendingAge, 1)
	require.Equal(t, int64(7), s.requests.Load())
}

func TestWhatEndedBetweenCountAndListHadAtLeastItsBound(t *testing.T) {
	t.Parallel()
	since := []time.Time{time.Now().Add(-20 * time.Minute)}
	for range 1000 {
		since = append(since, time.Now().Add(-time.Minute))
	}
	got, err := stats.Ask(t.Context(), &store{since: since, vanish: true}, "bots", bot, true)
	require.NoError(t, err)
	require.InDelta(t, 14*60, got.OldestPendingAge, 60)
	got, err = stats.Ask(t.Context(), &store{since: since[:1], vanish: true}, "bots", bot, true)
	require.NoError(t, err)
	require.Zero(t, got.OldestPendingAge)
}

func TestMoreThanTwoYearsIsTakenForTwo(t *testing.T) {
	t.Parallel()
	since := make([]time.Time, 1000)
	for i := range since {
		since[i] = time.Now().Add(-5 * 365 * 24 * time.Hour)
	}
	s := &store{since: since}
	got, err := stats.Ask(t.Context(), s, "bots", bot, true)
	require.NoError(t, err)
	require.InDelta(t, 2.3*365*24*3600, got.OldestPendingAge, 10*24*3600)
	require.Equal(t, int64(20), s.requests.Load(), "the longest search")
}

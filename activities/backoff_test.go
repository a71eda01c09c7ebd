package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
)

func TestBackoffIsFullJitterUpToItsBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(-1, 1000).Draw(r, "n")
		random := rapid.Float64Range(0, 0.999999).Draw(r, "random")
		bound := 10 * time.Minute
		if n < 10 {
			bound = min(bound, 2*time.Second<<max(n-1, 0))
		}
		got := activities.Backoff(n, random)
		require.GreaterOrEqual(t, got, time.Second)
		require.LessOrEqual(t, got, bound)
		require.Equal(t, max(time.Second, time.Duration(random*float64(bound))), got)
	})
}

func TestBackoffDoublesFromTwoSecondsToTenMinutes(t *testing.T) {
	t.Parallel()
	const almost = 0.9999999999
	for n, want := range map[int]time.Duration{
		1: 2 * time.Second, 2: 4 * time.Second, 3: 8 * time.Second, 9: 512 * time.Second, 10: 10 * time.Minute, 64: 10 * time.Minute,
	} {
		require.InDelta(t, want, activities.Backoff(n, almost), float64(time.Millisecond))
	}
}

func TestAFloodIsNeverAnsweredEarly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		named := time.Duration(rapid.Int64Range(-5, 14*24*3600).Draw(r, "named")) * time.Second
		floods := rapid.IntRange(0, 100).Draw(r, "floods")
		random := rapid.Float64Range(0, 0.999999).Draw(r, "random")
		got := activities.FloodWait(named, floods, random)
		require.GreaterOrEqual(t, got, max(named, time.Second))
		least := named
		if named <= 0 {
			least = min(time.Minute, time.Second<<min(max(floods-1, 0), 6))
		}
		require.GreaterOrEqual(t, got, least)
		require.Less(t, got, least+500*time.Millisecond, "jitter is small and only added")
	})
}

package worker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker"
)

// noon begins a slot.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestATallyIsRightToWithinTenMinutes checks it against the events themselves,
// across hand-overs at any moment.
func TestATallyIsRightToWithinTenMinutes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var events []time.Time
		tally, now := &worker.Tally{}, noon
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, 4), 1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "s")) * time.Second)
			switch step {
			case 0:
				next := &worker.Tally{}
				next.Restore(tally.State())
				tally = next
			case 1:
				now = now.Add(time.Duration(rapid.IntRange(0, 60).Draw(t, "h")) * time.Hour)
			default:
				tally.Add(now)
				events = append(events, now)
			}
			sum := tally.Sum(now)
			require.GreaterOrEqual(t, sum, since(events, now.Add(-24*time.Hour+10*time.Minute)))
			require.LessOrEqual(t, sum, since(events, now.Add(-24*time.Hour)))
		}
	})
}

// since counts the events after a time.
func since(events []time.Time, at time.Time) (n int) {
	for _, e := range events {
		if e.After(at) {
			n++
		}
	}
	return n
}

func TestATallyForgetsAtTheEndOfTheDay(t *testing.T) {
	t.Parallel()
	tally, at := &worker.Tally{}, noon.Add(9*time.Minute+59*time.Second)
	tally.Add(at)
	require.Equal(t, 1, tally.Sum(noon.Add(23*time.Hour+50*time.Minute)))
	require.Zero(t, tally.Sum(noon.Add(24*time.Hour)))
	require.Zero(t, tally.Sum(at), "what is forgotten does not come back")
}

func TestWhatATallyHandsOverIsShort(t *testing.T) {
	t.Parallel()
	tally := &worker.Tally{}
	require.Equal(t, contract.Tally{Counts: []int{}}, tally.State())
	tally.Add(noon)
	tally.Add(noon.Add(10 * time.Minute))
	tally.Add(noon.Add(10 * time.Minute))
	state := tally.State()
	require.Equal(t, contract.Tally{Slot: noon.Unix()/600 + 1, Counts: []int{2, 1}}, state)
	tally.Add(noon)
	require.Equal(t, []int{3, 1}, tally.State().Counts, "a clock that went back loses nothing")
	require.Equal(t, []int{2, 1}, state.Counts, "what was handed over is no longer touched")
}

func TestATallyOfAnotherReleaseIsTakenAsFarAsItFits(t *testing.T) {
	t.Parallel()
	counts := make([]int, 500)
	for i := range counts {
		counts[i] = 1
	}
	tally := &worker.Tally{}
	tally.Restore(contract.Tally{Slot: noon.Unix() / 600, Counts: counts})
	require.Equal(t, 144, tally.Sum(noon))
}

package workflows_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

const (
	second = time.Second
	minute = time.Minute
	hour   = time.Hour
)

func TestPartsGoThreeAtATime(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.has(minute, contract.BroadcastRunning, "1 go", "2 go", "3 go")
	r.reports(2*minute, over(2, 20))
	r.has(3*minute, contract.BroadcastRunning, "1 go", "2 go", "3 go", "4 go")
	r.reports(3*minute, over(4, 40))
	r.reports(4*minute, over(1, 10))
	r.reports(5*minute, over(1, 10)) // heard twice
	r.reports(6*minute, over(3, 30))
	state := r.ends(r.of(10, 20, 30, 40))
	require.Equal(t, contract.BroadcastDone, state.Phase)
	require.Equal(t, map[string]int{"delivered": 100}, state.Counts.Outcomes)
	require.Equal(t, time.Duration(0), r.since(state.BeganAt))
	require.Equal(t, 6*minute, r.since(state.EndedAt))
	require.Equal(t, []string{"running", "done"}, r.outcomes)
	require.Len(t, r.memos, 5, "only what changes is shown")
}

func TestAPartThatMerelyWaitsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.reports(minute, contract.PartReport{Part: 1, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 9}}})
	r.has(2*minute, contract.BroadcastRunning, "1 go", "2 go", "3 go", "4 go")
	r.at(3*minute, func() { require.Equal(t, []int{1, 2, 3, 4}, r.now().Running) })
	for part := range 4 {
		r.reports(4*minute, over(part+1, 10))
	}
	r.ends(r.of(10, 10, 10, 10))
}

func TestABroadcastBeginsWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	in := r.of(10)
	in.At = r.start.Add(hour)
	r.has(59*minute, contract.BroadcastScheduled)
	r.has(61*minute, contract.BroadcastRunning, "1 go")
	r.reports(2*hour, over(1, 10))
	state := r.ends(in)
	require.Equal(t, hour, r.since(state.BeganAt))
	require.Equal(t, []string{"scheduled", "running", "done"}, r.outcomes)
}

func TestAScheduledBroadcastTakesOrders(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	in := r.of(10)
	in.At = r.start.Add(hour)
	r.orders(contract.BroadcastPause, minute)
	r.has(2*minute, contract.BroadcastPaused)
	r.orders(contract.BroadcastResume, 3*minute)
	r.has(4*minute, contract.BroadcastScheduled)
	r.orders(contract.BroadcastPause, 5*minute)
	r.has(2*hour, contract.BroadcastPaused)
	r.orders(contract.BroadcastResume, 3*hour)
	r.has(3*hour+second, contract.BroadcastRunning, "1 go")
	r.reports(4*hour, over(1, 10))
	state := r.ends(in)
	require.Equal(t, 3*hour, r.since(state.BeganAt))
	require.Zero(t, state.PausedFor, "it had not begun")

	r = newTour(t)
	r.orders(contract.BroadcastCancel, minute)
	state = r.ends(in)
	require.Equal(t, contract.BroadcastCancelled, state.Phase)
	require.Equal(t, map[string]int{"not_sent": 10}, state.Counts.Outcomes)
	require.Equal(t, []string{"1 cancel"}, r.told)
	require.Zero(t, state.BeganAt)
}

func TestAPauseIsShownAtOnceAndReachesTheOpenParts(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.orders(contract.BroadcastPause, minute)
	r.orders(contract.BroadcastPause, 2*minute)
	r.reports(3*minute, over(1, 10))
	r.has(4*minute, contract.BroadcastPaused, "1 go", "2 go", "3 go", "1 pause", "2 pause", "3 pause")
	r.orders(contract.BroadcastResume, 11*minute)
	r.orders(contract.BroadcastResume, 12*minute)
	r.has(13*minute, contract.BroadcastRunning,
		"1 go", "2 go", "3 go", "1 pause", "2 pause", "3 pause", "2 resume", "3 resume", "4 go")
	for part := 2; part <= 4; part++ {
		r.reports(14*minute, over(part, 10))
	}
	state := r.ends(r.of(10, 10, 10, 10))
	require.Equal(t, 10*minute, state.PausedFor.Round(second))
	var actions []string
	for _, a := range state.Actions {
		actions = append(actions, fmt.Sprint(a.What, " ", a.By, " ", a.Reason, " ", r.since(a.At)))
	}
	require.Equal(t, []string{"start ann@desk  0s", "pause ann@desk so 1m0s", "resume ann@desk so 11m0s"}, actions, "done twice is done once")
}

func TestOrdersToOnePartNeverOvertakeEachOther(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.at(minute, func() {
		for _, what := range []string{contract.BroadcastPause, contract.BroadcastResume, contract.BroadcastPause} {
			r.env.SignalWorkflow(contract.OrderSignal, contract.BroadcastOrder{What: what})
		}
	})
	r.has(2*minute, contract.BroadcastPaused, "1 go", "1 pause")
	r.orders(contract.BroadcastCancel, 3*minute)
	r.reports(4*minute, over(1, 10))
	r.ends(r.of(10))
}

func TestACancelEndsEveryPart(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.orders(contract.BroadcastPause, minute)
	r.orders(contract.BroadcastCancel, 3*minute)
	r.orders(contract.BroadcastResume, 4*minute)
	r.has(5*minute, contract.BroadcastCancelled, "1 go", "2 go", "3 go", "1 pause", "2 pause", "3 pause",
		"1 cancel", "2 cancel", "3 cancel", "4 cancel", "5 cancel")
	r.reports(6*minute, contract.PartReport{Part: 1, Ended: true, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 4, "not_sent": 6}}})
	r.reports(7*minute, over(2, 10))
	r.reports(7*minute, over(3, 10))
	state := r.ends(r.of(10, 10, 10, 10, 10))
	require.Equal(t, map[string]int{"delivered": 24, "not_sent": 26}, state.Counts.Outcomes)
	require.Equal(t, contract.BroadcastCancelled, state.Phase)
	require.Equal(t, 2*minute, state.PausedFor.Round(second))
	require.Equal(t, 7*minute, r.since(state.EndedAt))
	require.Len(t, state.Actions, 3)
}

func TestACancelReachesAnyNumberOfParts(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	sizes := make([]int, 250)
	for i := range sizes {
		sizes[i] = 1
	}
	in := r.of(sizes...)
	in.At = r.start.Add(hour)
	r.orders(contract.BroadcastCancel, minute)
	state := r.ends(in)
	require.Equal(t, map[string]int{"not_sent": 250}, state.Counts.Outcomes)
	require.Len(t, r.told, 250)
	require.LessOrEqual(t, len(r.memos), 6, "some at a time")
}

func TestACancelledBroadcastWorkflowEndsAsIfItHadBeenOrdered(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.at(minute, r.env.CancelWorkflow)
	r.has(2*minute, contract.BroadcastCancelled, "1 go", "1 cancel")
	r.reports(3*minute, over(1, 10))
	state := r.ends(r.of(10))
	require.Len(t, state.Actions, 2)
}

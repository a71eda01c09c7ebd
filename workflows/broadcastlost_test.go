package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestTroublePausesTheBroadcastOnce(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	trouble := contract.PartReport{Part: 1, Trouble: "chat not found"}
	other := contract.PartReport{Part: 2, Trouble: "chat not found"}
	r.reports(minute, trouble)
	r.reports(2*minute, other)
	r.has(3*minute, contract.BroadcastPaused, "1 go", "2 go", "2 pause")
	r.orders(contract.BroadcastResume, 20*minute)
	r.has(21*minute, contract.BroadcastRunning, "1 go", "1 resume", "2 go", "2 pause", "2 resume")
	r.reports(2*hour, over(1, 10))
	r.reports(2*hour, over(2, 10))
	state := r.ends(r.of(10, 10))
	require.Len(t, state.Actions, 3)
	require.Equal(t, contract.ByDurabot, state.Actions[1].By)
	require.Equal(t, "chat not found", state.Actions[1].Reason)
}

// The part has paused itself, so it must hear of the resume though it was never
// told to pause.
func TestAResumeThatComesWithTroubleReachesThePart(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.at(minute, func() {
		r.env.SignalWorkflowSkippingWorkflowTask(contract.OrderSignal, contract.BroadcastOrder{What: contract.BroadcastResume})
		r.env.SignalWorkflow(contract.PartSignal, contract.PartReport{Part: 1, Trouble: "chat not found"})
	})
	r.has(2*minute, contract.BroadcastRunning, "1 go", "1 resume")
	r.reports(3*minute, over(1, 10))
	r.ends(r.of(10))
}

func TestAPartThatWasTerminatedHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.reports(minute, contract.PartReport{Part: 1, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 7}}})
	r.reports(2*minute, over(3, 10))
	r.at(3*minute, func() { r.gone["1"], r.gone["4"] = true, true })
	r.reports(29*minute, over(2, 10))
	r.has(28*minute, contract.BroadcastRunning, "1 go", "2 go", "3 go", "4 go", "5 go")
	r.has(40*minute, contract.BroadcastRunning, "1 go", "2 go", "3 go", "4 go", "5 go", "5 go", "6 go", "6 go")
	r.reports(hour, over(5, 10))
	r.reports(hour, over(6, 10))
	state := r.ends(r.of(10, 10, 10, 10, 10, 10))
	require.Equal(t, map[string]int{"delivered": 47, "uncertain": 13}, state.Counts.Outcomes)
}

func TestAPartThatCannotBeLetGoIsUncertain(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	r.gone["1"] = true
	state := r.ends(r.of(10))
	require.Equal(t, map[string]int{"uncertain": 10}, state.Counts.Outcomes)
	require.Equal(t, contract.BroadcastDone, state.Phase)
}

func TestTheLastActionsAreKept(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	for i := range 15 {
		r.orders(contract.BroadcastPause, time.Duration(2*i+1)*second)
		r.orders(contract.BroadcastResume, time.Duration(2*i+2)*second)
	}
	r.reports(hour, over(1, 10))
	state := r.ends(r.of(10))
	require.Len(t, state.Actions, 20)
	require.Equal(t, 15*second, state.PausedFor.Round(second))
}

func TestABroadcastContinuesWhereItStands(t *testing.T) {
	t.Parallel()
	r := newTour(t)
	in := r.of(10, 10, 10, 10, 10)
	waiting := contract.PartReport{Part: 1, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 9}}}
	r.reports(minute, waiting)
	r.at(2*minute, func() { r.env.SetCurrentHistoryLength(2001) })
	r.at(3*minute, func() {
		r.env.SignalWorkflowSkippingWorkflowTask(contract.PartSignal, over(2, 10))
		r.env.SignalWorkflow(contract.OrderSignal, contract.BroadcastOrder{What: contract.BroadcastPause})
	})
	r.env.ExecuteWorkflow(contract.BroadcastWorkflow, in)
	var next contract.BroadcastInput
	require.True(t, continued(r.env, contract.BroadcastWorkflow, &next), "%v", r.env.GetWorkflowError())
	require.Equal(t, contract.BroadcastPaused, next.State.Phase, "no signal is lost")
	require.Equal(t, map[string]int{"delivered": 10}, next.State.Counts.Outcomes)
	require.Equal(t, []contract.PartReport{waiting, {Part: 3}, {Part: 4}}, next.Open)
	require.Equal(t, 5, next.Next)
	require.ElementsMatch(t, []string{"1 go", "2 go", "3 go", "4 go", "1 pause", "3 pause", "4 pause"}, r.told, "nothing is on its way")

	begin := r.env.Now()
	r = newTour(t)
	r.start = begin
	r.env.SetStartTime(begin)
	r.orders(contract.BroadcastResume, 20*minute)
	r.has(21*minute, contract.BroadcastRunning, "1 resume", "3 resume", "4 resume", "5 go")
	for _, part := range []int{1, 3, 4, 5} {
		r.reports(22*minute, over(part, 10))
	}
	state := r.ends(next)
	require.Equal(t, map[string]int{"delivered": 50}, state.Counts.Outcomes)
	require.Equal(t, 20*minute, state.PausedFor.Round(second))
	require.Equal(t, []string{"running", "done"}, r.outcomes)
	require.Contains(t, r.memos[0], `"state":"running"`, "what it was is shown before")
}

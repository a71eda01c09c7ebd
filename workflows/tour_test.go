package workflows_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/durabot/durabot/internal/contract"
)

// tour is a broadcast on a test clock with fake parts.
type tour struct {
	*shown
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	start time.Time
	mu    sync.Mutex
	told  []string        // part and order, as they arrived
	gone  map[string]bool // the parts that cannot be told

	looking int // the looks that are still to come
}

func newTour(t *testing.T) *tour {
	t.Helper()
	env := newEnv()
	r := &tour{t: t, env: env, shown: watch(env), start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), gone: map[string]bool{}}
	env.SetStartTime(r.start)
	env.OnSignalExternalWorkflow(mock.Anything, mock.Anything, "", contract.OrderSignal, mock.Anything).
		Return(func(_, id, _, _ string, order any) error {
			part := id[len("broadcast/7/may/"):]
			what := order.(contract.BroadcastOrder).What
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.gone[part] {
				return &temporal.UnknownExternalWorkflowExecutionError{}
			}
			r.told = append(r.told, part+" "+what)
			return nil
		})
	return r
}

// of is a broadcast with these parts.
func (r *tour) of(sizes ...int) contract.BroadcastInput {
	in := contract.BroadcastInput{BotID: bot, Name: "may", Sizes: sizes, Attributes: true, State: contract.BroadcastState{
		Phase: contract.BroadcastRunning, Method: "sendMessage", AcceptedAt: r.start.UTC(),
		Actions: []contract.BroadcastOrder{{What: "start", By: ann, At: r.start.UTC()}},
	}}
	for _, n := range sizes {
		in.State.Total += n
	}
	return in
}

func (r *tour) at(after time.Duration, do func()) { r.env.RegisterDelayedCallback(do, after) }

func (r *tour) orders(what string, after time.Duration) {
	r.at(after, func() {
		r.env.SignalWorkflow(contract.OrderSignal, contract.BroadcastOrder{What: what, By: ann, Reason: "so"})
	})
}

func (r *tour) reports(after time.Duration, report contract.PartReport) {
	r.at(after, func() { r.env.SignalWorkflow(contract.PartSignal, report) })
}

// over is the report of a part that reached everybody.
func over(part, n int) contract.PartReport {
	return contract.PartReport{Part: part, Ended: true, Counts: contract.Counts{Outcomes: map[string]int{"delivered": n}}}
}

// has expects what the parts have been told so far, each in this order, and the
// phase. Those to different parts are on their way at the same time.
func (r *tour) has(after time.Duration, phase contract.BroadcastPhase, told ...string) {
	r.looking++
	r.at(after, func() {
		r.looking--
		r.mu.Lock()
		defer r.mu.Unlock()
		byPart := func(a, b string) int { return cmp.Compare(a[:1], b[:1]) }
		slices.SortStableFunc(told, byPart)
		require.Equal(r.t, told, slices.SortedStableFunc(slices.Values(r.told), byPart), "after %s", after)
		require.Equal(r.t, phase, r.now().Phase, "after %s", after)
	})
}

// now is the state that the broadcast shows.
func (r *tour) now() (state contract.BroadcastState) {
	require.NoError(r.t, json.Unmarshal([]byte(r.last()), &state))
	return state
}

// ends plays the broadcast until it has ended.
func (r *tour) ends(in contract.BroadcastInput) contract.BroadcastState {
	r.t.Helper()
	r.env.ExecuteWorkflow(contract.BroadcastWorkflow, in)
	require.True(r.t, r.env.IsWorkflowCompleted())
	require.NoError(r.t, r.env.GetWorkflowError())
	var state contract.BroadcastState
	require.NoError(r.t, r.env.GetWorkflowResult(&state))
	require.JSONEq(r.t, asJSON(state), r.last(), "the memo shows the end")
	require.Equal(r.t, in.State.Total, state.Counts.Sum())
	require.Empty(r.t, state.Running)
	require.Zero(r.t, r.looking, "it ended too early")
	return state
}

func (r *tour) since(t time.Time) time.Duration { return t.Sub(r.start).Round(time.Second) }

package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// share is one part of a broadcast on a test clock, with a fake crew and a fake
// broadcast that hears its reports.
type share struct {
	*shown
	*crew
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	start   time.Time
	reports []contract.PartReport
	gone    error // what a report is answered
	// onReport is what happens while a report is on its way.
	onReport func()
	looking  int // the looks that are still to come
}

func newShare(t *testing.T) *share {
	t.Helper()
	s := &share{t: t, crew: &crew{send: reaches, open: map[string]int{}}}
	s.env = newEnv(s.crew)
	s.shown = watch(s.env)
	s.start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.env.SetStartTime(s.start)
	s.env.OnSignalExternalWorkflow(mock.Anything, "broadcast/7/may", "", contract.PartSignal, mock.Anything).
		Return(func(_, _, _, _ string, r any) error {
			s.reports = append(s.reports, copied(r.(contract.PartReport)))
			if s.onReport != nil {
				s.onReport()
			}
			return s.gone
		})
	return s
}

// audience are n recipients.
func audience(n int) (all []contract.Addressee) {
	for i := range n {
		all = append(all, contract.Addressee{Recipient: contract.Recipient{Chat: fmt.Sprint(1000 + i), Fields: map[string]string{"n": "1"}}})
	}
	return all
}

func (s *share) of(n int, delivery contract.Delivery) contract.PartInput {
	call := say("news")
	call.Delivery, call.Priority, call.TTL = delivery, contract.Bulk, time.Hour
	return contract.PartInput{
		BotID: bot, Name: "may", Part: 3, Parts: 9, What: contract.BroadcastCall{Call: call},
		Recipients: audience(n), Until: s.start.Add(30 * day),
	}
}

// orders gives orders, one at each time.
func (s *share) orders(what string, at time.Duration) {
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.OrderSignal, contract.BroadcastOrder{What: what}) }, at)
}

// looks checks something after a time, at which the part must be open.
func (s *share) looks(after time.Duration, check func()) {
	s.looking++
	s.env.RegisterDelayedCallback(func() {
		s.looking--
		check()
	}, after)
}

// ends plays the part until it has ended.
func (s *share) ends(in contract.PartInput) contract.PartResult {
	s.t.Helper()
	s.env.ExecuteWorkflow(contract.BroadcastPartWorkflow, in)
	require.True(s.t, s.env.IsWorkflowCompleted())
	require.NoError(s.t, s.env.GetWorkflowError())
	var res contract.PartResult
	require.NoError(s.t, s.env.GetWorkflowResult(&res))
	s.right(in, res)
	require.Zero(s.t, s.looking, "it ended too early")
	return res
}

// right expects one outcome for every recipient, and counts that agree with them
// everywhere.
func (s *share) right(in contract.PartInput, res contract.PartResult) {
	s.t.Helper()
	var want, have []string
	for _, a := range in.Recipients {
		want = append(want, a.Chat)
	}
	var counts contract.Counts
	for _, r := range res.Results {
		have = append(have, r.Chat)
		counts.Add(r)
	}
	for _, r := range in.Results {
		want = append(want, r.Chat)
	}
	slices.Sort(want)
	slices.Sort(have)
	require.Equal(s.t, want, have)
	require.Empty(s.t, res.Left)
	require.Equal(s.t, counts, res.Counts)
	require.LessOrEqual(s.t, s.most, 5)
	var state contract.PartState
	require.NoError(s.t, json.Unmarshal([]byte(s.last()), &state))
	require.Equal(s.t, contract.PartState{Phase: state.Phase, Total: len(want), Counts: counts}, state)
	require.Contains(s.t, []contract.BroadcastPhase{contract.BroadcastDone, contract.BroadcastCancelled}, state.Phase)
	if n := len(s.reports); n > 0 {
		last := s.reports[n-1]
		require.Equal(s.t, contract.PartReport{Part: in.Part, Counts: counts, Ended: true, Trouble: last.Trouble}, last)
	}
}

// continues plays one run of the part and returns what the next one starts with.
func (s *share) continues(in contract.PartInput) contract.PartInput {
	s.t.Helper()
	s.env.ExecuteWorkflow(contract.BroadcastPartWorkflow, in)
	var next contract.PartInput
	require.True(s.t, continued(s.env, contract.BroadcastPartWorkflow, &next), "%v", s.env.GetWorkflowError())
	return next
}

// continued decodes what a run that continued as new leaves to the next.
func continued(env *testsuite.TestWorkflowEnvironment, kind string, next any) bool {
	again, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
	return ok && again.WorkflowType.Name == kind && converter.GetDefaultDataConverter().FromPayloads(again.Input, next) == nil
}

// copied is a value as it crosses the wire: the sender may change its own later.
func copied[T any](v T) (c T) {
	if err := json.Unmarshal([]byte(asJSON(v)), &c); err != nil {
		panic(err)
	}
	return c
}

// tells are the results by how they are told.
func tells(res contract.PartResult) map[string]int { return res.Counts.Outcomes }

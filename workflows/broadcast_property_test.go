package workflows_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// fates are orders at random times of the first ten minutes.
func fates(r *rapid.T) (what []string, at []time.Duration) {
	for range rapid.IntRange(0, 8).Draw(r, "orders") {
		what = append(what, rapid.SampledFrom([]string{
			contract.PartGo, contract.BroadcastPause, contract.BroadcastPause,
			contract.BroadcastResume, contract.BroadcastResume, contract.BroadcastCancel,
		}).Draw(r, "order"))
		at = append(at, time.Duration(rapid.IntRange(1, 600).Draw(r, "second"))*time.Second)
	}
	return what, at
}

// Whatever batches do, whatever is ordered, and wherever a run ends: every
// recipient has exactly one outcome, whoever is not to get it twice does not, the
// counts agree, and at most five batches are open.
func TestEveryRecipientOfAPartEndsExactlyOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		delivery := rapid.SampledFrom([]contract.Delivery{contract.AtMostOnce, contract.AtLeastOnce}).Draw(r, "delivery")
		s := newShare(t)
		start := s.start
		w := &weather{r: r, once: delivery == contract.AtMostOnce, calm: start.Add(20 * minute), waits: true, closed: map[string]bool{}}
		in := s.of(rapid.IntRange(1, 900).Draw(r, "recipients"), delivery)
		what, at := fates(r)
		what = append(what, contract.PartGo, contract.PartGo, contract.BroadcastResume)
		at = append(at, second, 26*minute, 27*minute)
		for runs := 0; ; runs++ {
			s.send = w.send
			for i := range what {
				if wait := start.Add(at[i]).Sub(s.start); wait >= 0 {
					s.orders(what[i], wait)
				}
			}
			if runs < 4 {
				s.env.RegisterDelayedCallback(func() { s.env.SetContinueAsNewSuggested(true) },
					time.Duration(rapid.IntRange(1, 900).Draw(r, "run"))*time.Second)
			}
			s.env.ExecuteWorkflow(contract.BroadcastPartWorkflow, in)
			var next contract.PartInput
			if !continued(s.env, contract.BroadcastPartWorkflow, &next) {
				break
			}
			require.Equal(t, len(in.Recipients)+len(in.Results), len(next.Recipients)+len(next.Results))
			now := s.env.Now()
			in, s = next, newShare(t)
			s.start = now
			s.env.SetStartTime(now)
		}
		require.NoError(t, s.env.GetWorkflowError())
		var res contract.PartResult
		require.NoError(t, s.env.GetWorkflowResult(&res))
		s.right(in, res)
	})
}

// The same of a whole broadcast, whose parts hear from it and it from them. No
// more than three parts go at once.
func TestEveryRecipientOfABroadcastEndsExactlyOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := newShare(t)
		w := &weather{r: r, once: true, calm: s.start.Add(20 * minute), waits: rapid.Bool().Draw(r, "waits"), closed: map[string]bool{}}
		s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
			going := 0
			for _, n := range s.open {
				going += min(n, 1)
			}
			if !w.waits && going > 3 {
				panic("more than three parts go")
			}
			return w.send(ctx, in)
		}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 300), 1, 5).Draw(r, "sizes")
		what, at := fates(r)
		what, at = append(what, contract.BroadcastResume, contract.BroadcastResume), append(at, 26*minute, 27*minute)
		for i := range what {
			s.env.RegisterDelayedCallback(func() {
				// One that is closed already cannot be told.
				_ = s.env.SignalWorkflowByID("broadcast/7/may", contract.OrderSignal, contract.BroadcastOrder{What: what[i]})
			}, at[i])
		}
		s.env.RegisterWorkflow(s.whole)
		s.env.ExecuteWorkflow(s.whole, sizes)
		require.True(t, s.env.IsWorkflowCompleted())
		require.NoError(t, s.env.GetWorkflowError())
		require.LessOrEqual(t, s.most, 5)
	})
}

// whole plays a broadcast with all its parts and checks how they ended.
//
//workflowcheck:ignore
func (s *share) whole(ctx workflow.Context, sizes []int) error {
	var parts []workflow.ChildWorkflowFuture
	child := func(id, kind string, in any) workflow.ChildWorkflowFuture {
		f := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{WorkflowID: id}), kind, in)
		require.NoError(s.t, f.GetChildWorkflowExecution().Get(ctx, nil))
		return f
	}
	total, everybody := 0, audience(2000)
	for i, n := range sizes {
		in := s.of(n, contract.AtMostOnce)
		in.Part, in.Parts, in.Recipients = i+1, len(sizes), everybody[total:total+n]
		total += n
		parts = append(parts, child(contract.PartID(bot, "may", i+1), contract.BroadcastPartWorkflow, in))
	}
	parent := child("broadcast/7/may", contract.BroadcastWorkflow, contract.BroadcastInput{
		BotID: bot, Name: "may", Sizes: sizes, State: contract.BroadcastState{Total: total},
	})
	var state contract.BroadcastState
	if err := parent.Get(ctx, &state); err != nil {
		return err
	}
	var counts contract.Counts
	var have []string
	for i, f := range parts {
		var res contract.PartResult
		if err := f.Get(ctx, &res); err != nil {
			return err
		}
		counts.Merge(res.Counts)
		for _, r := range res.Results {
			have = append(have, r.Chat)
		}
		require.Len(s.t, res.Results, sizes[i])
	}
	slices.Sort(have)
	require.Len(s.t, slices.Compact(have), total)
	require.Equal(s.t, counts, state.Counts, fmt.Sprint(sizes))
	return nil
}

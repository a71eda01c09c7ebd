package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// later reaches everybody at once but the first, who waits.
func (s *share) later(wait time.Duration) {
	first := true
	s.send = func(ctx workflow.Context, in contract.BatchInput) (res contract.BatchResult, err error) {
		for _, a := range in.Recipients {
			if a.Chat == "1000" && first {
				first = false
				a.NotBefore, a.Ledger = workflow.Now(ctx).Add(wait), &contract.Ledger{Floods: 1}
				res.Left = append(res.Left, a)
				continue
			}
			res.Results = append(res.Results, got(a.Chat, workflow.Now(ctx)))
		}
		return res, nil
	}
}

func TestAPartSaysOnceThatItMerelyWaits(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.later(time.Hour)
	s.orders(contract.PartGo, 0)
	res := s.ends(s.of(150, contract.AtMostOnce))
	require.Equal(t, map[string]int{"delivered": 150}, tells(res))
	require.Equal(t, []contract.PartReport{
		{Part: 3, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 149}}},
		{Part: 3, Counts: contract.Counts{Outcomes: map[string]int{"delivered": 150}}, Ended: true},
	}, s.reports)
	last := s.started[len(s.started)-1]
	require.Equal(t, &contract.Ledger{Floods: 1}, last.Recipients[0].Ledger)
	require.Equal(t, s.start.Add(time.Hour), res.Results[149].At.Round(time.Second).UTC())
}

func TestAPartThatIsToldAgainSaysAgainThatItMerelyWaits(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.later(time.Hour)
	s.orders(contract.PartGo, 0)
	s.orders(contract.PartGo, time.Minute)
	s.ends(s.of(2, contract.AtMostOnce))
	require.Len(t, s.reports, 3)
	require.Equal(t, s.reports[0], s.reports[1])
}

func TestThoseWhoseTimesLieCloseTogetherMakeOneBatch(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	in := s.of(50, contract.AtMostOnce)
	for i := range in.Recipients {
		in.Recipients[i].NotBefore = s.start.Add(time.Duration(i) * 100 * time.Millisecond)
	}
	s.orders(contract.PartGo, 0)
	s.send = func(ctx workflow.Context, in contract.BatchInput) (res contract.BatchResult, err error) {
		for _, a := range in.Recipients {
			require.False(t, a.NotBefore.After(workflow.Now(ctx)))
			res.Results = append(res.Results, got(a.Chat, workflow.Now(ctx)))
		}
		return res, nil
	}
	s.ends(in)
	require.LessOrEqual(t, len(s.started), 2)
}

// A batch of a few is not worth it while others run, but a full one is.
func TestABatchOfAFewWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	in := s.of(500, contract.AtMostOnce)
	for i := range 400 {
		in.Recipients[i].NotBefore = s.start.Add(20 * time.Second)
		if i < 150 {
			in.Recipients[i].NotBefore = s.start.Add(10 * time.Second)
		}
	}
	s.orders(contract.PartGo, 0)
	timers := 0
	s.env.SetOnTimerScheduledListener(func(_ string, d time.Duration) {
		if d > time.Second { // those of the crew are shorter
			timers++
		}
	})
	var at []time.Duration
	s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
		at = append(at, workflow.Now(ctx).Sub(s.start).Round(time.Second))
		require.Len(t, in.Recipients, 100)
		return reaches(ctx, in)
	}
	s.ends(in)
	require.Equal(t, []time.Duration{0, 10 * time.Second, 20 * time.Second, 20 * time.Second, 20 * time.Second}, at)
	require.Equal(t, 2, timers, "until ten and until twenty seconds")
}

func TestTroublePausesThePartAndIsReportedOnce(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	calls := 0
	s.send = func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
		if calls++; calls > 3 {
			return reaches(ctx, in)
		}
		return contract.BatchResult{Left: in.Recipients, Trouble: "chat not found"}, nil
	}
	s.orders(contract.PartGo, 0)
	s.orders(contract.BroadcastResume, time.Hour)
	s.looks(59*time.Minute, func() {
		require.Len(t, s.started, 3)
		require.Contains(t, s.last(), `"paused"`)
	})
	s.ends(s.of(300, contract.AtMostOnce))
	require.Len(t, s.reports, 2)
	require.Equal(t, contract.PartReport{Part: 3, Trouble: "chat not found"}, s.reports[0])
}

func TestAPartWhoseBroadcastIsGoneEndsWithIt(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.gone = &temporal.UnknownExternalWorkflowExecutionError{}
	s.send = func(_ workflow.Context, in contract.BatchInput) (contract.BatchResult, error) {
		return contract.BatchResult{Left: in.Recipients, Trouble: "chat not found"}, nil
	}
	s.orders(contract.PartGo, 0)
	require.Equal(t, map[string]int{"not_sent": 3}, tells(s.ends(s.of(3, contract.AtMostOnce))))
}

func TestResultsAreToBeSeenWhileThePartIsOpen(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, 0)
	s.orders(contract.BroadcastPause, 10500*time.Millisecond)
	s.orders(contract.BroadcastResume, time.Hour)
	for at, want := range map[time.Duration][2]int{5 * time.Second: {0, 150}, time.Minute: {10, 140}} {
		s.looks(at, func() {
			v, err := s.env.QueryWorkflow(contract.ResultsQuery)
			require.NoError(t, err)
			var res contract.PartResult
			require.NoError(t, v.Get(&res))
			require.Equal(t, want, [2]int{len(res.Results), len(res.Left)})
			require.Equal(t, want[0], res.Counts.Sum())
		})
	}
	s.ends(s.of(150, contract.AtMostOnce))
}

func TestAPartContinuesWithWhatItKnowsWhenNoBatchIsOpen(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.later(time.Hour)
	s.env.RegisterDelayedCallback(func() { s.env.SetCurrentHistoryLength(2001) }, time.Minute)
	s.orders(contract.PartGo, 0)
	s.env.RegisterDelayedCallback(func() {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.OrderSignal, contract.BroadcastOrder{What: contract.BroadcastResume})
		s.env.SignalWorkflow(contract.OrderSignal, contract.BroadcastOrder{What: contract.BroadcastPause})
	}, 2*time.Minute)
	in := s.of(150, contract.AtMostOnce)
	next := s.continues(in)
	require.Equal(t, contract.BroadcastPaused, next.Phase, "no signal is lost")
	require.True(t, next.Told)
	require.Len(t, next.Results, 149)
	require.Len(t, next.Recipients, 1)
	require.Equal(t, &contract.Ledger{Floods: 1}, next.Recipients[0].Ledger)
	require.Equal(t, in.Until.UTC(), next.Until.UTC())

	memos := len(s.memos)
	s = newShare(t)
	s.orders(contract.BroadcastResume, time.Hour)
	require.Equal(t, map[string]int{"delivered": 150}, tells(s.ends(next)))
	require.Len(t, s.reports, 1, "it has told before that it waits")
	require.Len(t, s.memos, 2, "the memo is shown before: %d", memos)
}

func TestAnOrderThatComesWhileThePartReportsReachesTheNextRun(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.later(time.Hour)
	s.onReport = func() {
		s.env.SetContinueAsNewSuggested(true)
		s.env.SignalWorkflowSkippingWorkflowTask(contract.OrderSignal, contract.BroadcastOrder{What: contract.BroadcastPause})
	}
	s.orders(contract.PartGo, 0)
	require.Equal(t, contract.BroadcastPaused, s.continues(s.of(2, contract.AtMostOnce)).Phase)

	s = newShare(t)
	s.later(time.Hour)
	s.onReport = func() {
		s.env.SetContinueAsNewSuggested(true)
		s.env.CancelWorkflow()
	}
	s.orders(contract.PartGo, 0)
	require.Equal(t, map[string]int{"delivered": 1, "not_sent": 1}, tells(s.ends(s.of(2, contract.AtMostOnce))))
}

func TestALongRunStartsNoMoreBatches(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, 0)
	s.env.RegisterDelayedCallback(func() { s.env.SetContinueAsNewSuggested(true) }, 10*time.Second)
	next := s.continues(s.of(1000, contract.AtMostOnce))
	require.Len(t, s.started, 5)
	require.Len(t, next.Results, 500)
	require.Len(t, next.Recipients, 500)
	require.Equal(t, contract.BroadcastRunning, next.Phase)
	data, err := json.Marshal(next)
	require.NoError(t, err)
	require.Less(t, len(data), 512<<10)
}

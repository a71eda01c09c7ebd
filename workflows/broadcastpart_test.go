package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func TestAPartReachesEveryRecipientInBatchesOfAHundred(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, time.Minute)
	in := s.of(2000, contract.AtMostOnce)
	res := s.ends(in)
	require.Equal(t, map[string]int{"delivered": 2000}, tells(res))
	require.Len(t, s.started, 20)
	require.Equal(t, 5, s.most)
	for _, b := range s.started {
		require.Len(t, b.Recipients, 100)
		require.Equal(t, []any{"may", 3, 9}, []any{b.Broadcast, b.Part, b.Parts})
		require.Equal(t, asJSON(in.What), asJSON(b.What))
		require.Equal(t, map[string]string{"n": "1"}, b.Recipients[0].Fields)
	}
	require.Equal(t, s.start.Add(time.Minute+time.Hour), s.started[0].Deadline.UTC())
	require.Len(t, s.reports, 1)
	require.Equal(t, workflow.ActivityOptions{
		TaskQueue: "durabot-7-send-batch", StartToCloseTimeout: 10 * time.Minute, HeartbeatTimeout: 15 * time.Second,
		ScheduleToCloseTimeout: time.Hour + 10*time.Minute, WaitForCancellation: true, DisableEagerExecution: true,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: "part 3, 100 recipients",
	}, s.options[0])
}

// The events of a run: three for a batch and three for the task that takes it in,
// one for each memo. 2,000 recipients take some 150.
func TestAPartShowsItsCountsOnceForEveryBatchThatEnds(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, time.Minute)
	s.ends(s.of(2000, contract.AtMostOnce))
	require.JSONEq(t, `{"state":"running","total":2000,"counts":{}}`, s.memos[0])
	require.JSONEq(t, `{"state":"running","total":2000,"counts":{"outcomes":{"delivered":100}}}`, s.memos[1])
	require.JSONEq(t, `{"state":"done","total":2000,"counts":{"outcomes":{"delivered":2000}}}`, s.last())
	require.LessOrEqual(t, len(s.memos), 1+len(s.started))
}

func TestAPartThatIsNeverLetGoEndsWithoutAWord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order string
		at    time.Duration
	}{
		"its time is over":             {contract.BroadcastResume, 30 * day},
		"cancelled before":             {contract.BroadcastCancel, time.Hour},
		"a pause that nobody asks for": {contract.BroadcastPause, 30 * day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShare(t)
			s.orders(c.order, time.Hour)
			res := s.ends(s.of(3, contract.AtMostOnce))
			require.Equal(t, map[string]int{"not_sent": 3}, tells(res))
			require.Empty(t, s.reports)
			require.Empty(t, s.started)
			require.Equal(t, s.start.Add(c.at), res.Results[0].At.Round(time.Second).UTC())
		})
	}
}

func TestAPauseStopsTheBatchesAndAResumeReachesWhoIsLeft(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, 0)
	s.orders(contract.BroadcastPause, 10500*time.Millisecond)
	s.orders(contract.BroadcastPause, time.Minute)
	s.orders(contract.BroadcastResume, time.Hour)
	s.orders(contract.BroadcastResume, time.Hour+time.Second)
	s.looks(59*time.Minute, func() {
		require.Len(t, s.started, 5)
		require.JSONEq(t, `{"state":"paused","total":600,"counts":{"outcomes":{"delivered":50}}}`, s.last())
	})
	res := s.ends(s.of(600, contract.AtMostOnce))
	require.Equal(t, map[string]int{"delivered": 600}, tells(res))
	require.Equal(t, s.start.Add(time.Hour+time.Second), res.Results[50].At.Round(time.Second).UTC())
	require.Len(t, s.reports, 1)
}

func TestACancelEndsWhoIsLeftByWhatIsKnownOfThem(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, 0)
	s.orders(contract.BroadcastCancel, 10500*time.Millisecond)
	s.orders(contract.BroadcastResume, time.Minute)
	in := s.of(120, contract.AtLeastOnce)
	in.Recipients[50].Ledger = &contract.Ledger{PossibleDuplicate: true}
	in.Recipients[51].Ledger = &contract.Ledger{InFlight: true, MovedTo: -100}
	in.Recipients[52].Ledger = &contract.Ledger{Failures: 1, Error: "502"}
	res := s.ends(in)
	require.Equal(t, map[string]int{"delivered": 10, "uncertain": 2, "not_sent": 108}, tells(res))
	for _, r := range res.Results {
		if r.Chat == "1051" {
			require.Equal(t, "-100", r.MovedTo)
		}
		if r.Chat == "1052" {
			require.Equal(t, "502", r.Error)
		}
	}
	require.Contains(t, s.last(), `"cancelled"`)
}

func TestACancelledPartWorkflowEndsAsIfItHadBeenOrdered(t *testing.T) {
	t.Parallel()
	s := newShare(t)
	s.orders(contract.PartGo, 0)
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, 10500*time.Millisecond)
	res := s.ends(s.of(120, contract.AtMostOnce))
	require.Equal(t, map[string]int{"delivered": 10, "not_sent": 110}, tells(res))
	require.Len(t, s.reports, 1)
}

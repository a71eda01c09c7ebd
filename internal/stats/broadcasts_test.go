package stats_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// showing is an open workflow with this state in its memo.
func showing(id string, state any) *workflowpb.WorkflowExecutionInfo {
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
		Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{
			contract.MemoState: must(converter.GetDefaultDataConverter().ToPayload(state)),
		}},
	}
}

func delivered(n int) contract.Counts {
	return contract.Counts{Outcomes: map[string]int{"delivered": n}}
}

// part describes a part, with its batches.
func (s *store) part(info *workflowpb.WorkflowExecutionInfo) *workflowservice.DescribeWorkflowExecutionResponse {
	d := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}
	for _, ledger := range s.ledgers[info.GetExecution().GetWorkflowId()] {
		d.PendingActivities = append(d.PendingActivities, &workflowpb.PendingActivityInfo{
			ActivityType:     &commonpb.ActivityType{Name: contract.SendBatchActivity},
			HeartbeatDetails: must(converter.GetDefaultDataConverter().ToPayloads(ledger)),
		})
	}
	return d
}

// sending is a store with a broadcast of which one part of 1,000 has ended, and so
// many are under way: each has 10 results, and a batch under way one more.
func sending(name string, parts int, phase contract.BroadcastPhase) *store {
	s := &store{ledgers: map[string][]contract.BatchLedger{}}
	state := contract.BroadcastState{Phase: phase, Total: 1000 * (parts + 1), Counts: delivered(1000)}
	for n := range parts {
		id := contract.PartID(bot, name, n+2)
		state.Running = append(state.Running, n+2)
		s.parts = append(s.parts, showing(id, contract.PartState{Total: 1000, Counts: delivered(10)}))
		s.ledgers[id] = []contract.BatchLedger{{Results: []contract.RecipientResult{{Outcome: contract.Delivered}}}}
	}
	s.parts = append(s.parts, showing(contract.PartID(bot, name, parts+2), contract.PartState{Total: 1000}))
	s.broadcasts = append(s.broadcasts, showing(contract.BroadcastID(bot, name), state))
	return s
}

// waiting are n calls that wait for a minute.
func waiting(n int) []time.Time {
	since := make([]time.Time, n)
	for i := range since {
		since[i] = time.Now().Add(-time.Minute)
	}
	return since
}

func TestRecipientsOfRunningBroadcastsWait(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		calls, parts int
		phase        contract.BroadcastPhase
		depth        int64
		broadcasts   int64
	}{
		"running":                       {0, 2, contract.BroadcastRunning, 2 * 989, 1},
		"running beside calls":          {1000, 2, contract.BroadcastRunning, 1000 + 2*989, 1},
		"many parts":                    {100, 12, contract.BroadcastRunning, 100 + 12*989, 1},
		"too many parts":                {0, 13, contract.BroadcastRunning, 13 * 990, 1},
		"too many parts beside calls":   {101, 3, contract.BroadcastRunning, 101 + 3*990, 1},
		"scheduled":                     {5, 0, contract.BroadcastScheduled, 5, 0},
		"paused":                        {5, 2, contract.BroadcastPaused, 5, 0},
		"cancelled, requests have left": {5, 2, contract.BroadcastCancelled, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sending("may", row.parts, row.phase)
			s.since = waiting(row.calls)
			got, err := stats.Ask(t.Context(), s, "bots", bot, true)
			require.NoError(t, err)
			require.Equal(t, [2]int64{row.depth, row.broadcasts}, [2]int64{got.QueueDepth, got.Broadcasts})
			require.LessOrEqual(t, s.requests.Load(), int64(20))
		})
	}
}

func TestABroadcastMakesNoQueueLate(t *testing.T) {
	t.Parallel()
	s := sending("may", 2, contract.BroadcastRunning)
	got, err := stats.Ask(t.Context(), s, "bots", bot, true)
	require.NoError(t, err)
	require.Zero(t, got.OldestPendingAge)
}

// Whatever waits, and however many broadcasts run, the requests suffice, and an age
// of up to 14 minutes is as exact as without them.
func TestBroadcastsTakeNoMoreThanTwentyRequests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := &store{since: queue(r, time.Now()), ledgers: map[string][]contract.BatchLedger{}}
		for i := range rapid.IntRange(0, 4).Draw(r, "broadcasts") {
			one := sending(fmt.Sprint("b", i), rapid.IntRange(0, 15).Draw(r, "parts"), contract.BroadcastRunning)
			s.broadcasts, s.parts = append(s.broadcasts, one.broadcasts...), append(s.parts, one.parts...)
		}
		got, err := stats.Ask(t.Context(), s, "bots", bot, true)
		require.NoError(t, err)
		require.LessOrEqual(t, s.requests.Load(), int64(20))
		require.Equal(t, int64(len(s.broadcasts)), got.Broadcasts)
		if len(s.since) == 0 {
			return
		}
		truth := time.Since(s.since[0])
		off := 2 * time.Second
		if truth > 800*time.Second {
			off = max(10*time.Second, truth/100)
		}
		found := time.Duration(got.OldestPendingAge) * time.Second
		require.LessOrEqual(t, found, truth+off)
		require.Greater(t, found, truth-off-time.Second)
	})
}

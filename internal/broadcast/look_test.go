package broadcast_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

func TestAStatusCountsEndedPartsEndedBatchesAndWhatOpenOnesHaveWritten(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.broadcast(contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 100, Counts: reached(10), Running: []int{2, 3, 4}})
	s.part(1, 10).state = contract.PartState{Counts: reached(10)} // has told its broadcast
	two := s.part(2, 20)
	two.state = contract.PartState{Counts: reached(5)}
	two.batches = append(two.batches,
		pending(contract.SendBatchActivity, contract.BatchLedger{Results: results("1", "2", "3")}),
		pending(contract.SendBatchActivity, nil),
		pending(contract.SendBatchActivity, "of another version"),
		pending("Other", contract.BatchLedger{Results: results("4")}))
	three := s.part(3, 20) // has ended, and its broadcast has not heard
	three.state, three.status = contract.PartState{Counts: reached(20)}, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	got, err := broadcast.Look(t.Context(), s, bot, name) // part 4 is forgotten
	require.NoError(t, err)
	require.Equal(t, 10+5+3+20, got.Counts.Outcomes["delivered"])
	require.Equal(t, 100-38, got.Pending)
}

func TestWhatIsNotThereIsNoBroadcastAndPartsAloneAreHalfOfOne(t *testing.T) {
	t.Parallel()
	s := newServer()
	_, err := broadcast.Look(t.Context(), s, bot, name)
	require.ErrorIs(t, err, broadcast.ErrNone)
	part := s.part(1, 10)
	_, err = broadcast.Look(t.Context(), s, bot, name)
	require.ErrorIs(t, err, broadcast.ErrHalfStarted)
	_, _, err = broadcast.Recipients(t.Context(), s, bot, name)
	require.ErrorIs(t, err, broadcast.ErrHalfStarted)
	part.status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	_, err = broadcast.Look(t.Context(), s, bot, name)
	require.ErrorIs(t, err, broadcast.ErrNone)
	s.err = errors.New("away")
	_, err = broadcast.Look(t.Context(), s, bot, name)
	require.ErrorIs(t, err, s.err)
}

func TestATerminatedBroadcastIsCancelled(t *testing.T) {
	t.Parallel()
	s := newServer()
	r := s.broadcast(contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 10})
	r.status, r.closed = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, began
	got, err := broadcast.Look(t.Context(), s, bot, name)
	require.NoError(t, err)
	require.Equal(t, contract.BroadcastCancelled, got.State)
	require.Equal(t, began, got.EndedAt)
	require.Nil(t, got.ETA)
}

func TestTheRateLeavesPausesOut(t *testing.T) {
	t.Parallel()
	minute := time.Minute
	for what, row := range map[string]struct {
		change func(*contract.BroadcastState, time.Time)
		rate   float64
		eta    int64 // -1 for none
	}{
		"running":             {func(*contract.BroadcastState, time.Time) {}, 1, 240},
		"paused before":       {func(s *contract.BroadcastState, _ time.Time) { s.PausedFor = 59 * minute }, 60, 4},
		"paused now":          {pausedSince(59 * minute), 60, -1},
		"ended":               {endedSince(59 * minute), 60, -1},
		"cancelled":           {cancelled, 1, -1},
		"nothing done":        {func(s *contract.BroadcastState, _ time.Time) { s.Counts, s.Rate = contract.Counts{}, 2 }, 0, 1920},
		"nothing known":       {func(s *contract.BroadcastState, _ time.Time) { s.Counts = contract.Counts{} }, 0, -1},
		"not begun":           {func(s *contract.BroadcastState, _ time.Time) { s.Counts, s.BeganAt = contract.Counts{}, time.Time{} }, 0, -1},
		"a clock that is off": {func(s *contract.BroadcastState, now time.Time) { s.BeganAt = now.Add(minute) }, 0, -1},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				state := contract.BroadcastState{
					Phase: contract.BroadcastRunning, Total: 3840, Counts: reached(3600), BeganAt: time.Now().Add(-time.Hour),
				}
				row.change(&state, time.Now())
				s := newServer()
				s.broadcast(state)
				got, err := broadcast.Look(t.Context(), s, bot, name)
				require.NoError(t, err)
				require.InDelta(t, row.rate, got.RatePerS, 1e-9)
				if row.eta < 0 {
					require.Nil(t, got.ETA)
					return
				}
				require.Equal(t, &row.eta, got.ETA)
			})
		})
	}
}

func pausedSince(d time.Duration) func(*contract.BroadcastState, time.Time) {
	return func(s *contract.BroadcastState, now time.Time) {
		s.Phase, s.Actions = contract.BroadcastPaused, []contract.BroadcastOrder{{What: contract.BroadcastPause, At: now.Add(-d)}}
	}
}

// cancelled did not send to the rest, which says nothing of its rate.
func cancelled(s *contract.BroadcastState, now time.Time) {
	s.Phase, s.EndedAt = contract.BroadcastCancelled, now
	s.Counts.Merge(contract.Counts{Outcomes: map[string]int{"not_sent": 240}})
}

func endedSince(d time.Duration) func(*contract.BroadcastState, time.Time) {
	return func(s *contract.BroadcastState, now time.Time) {
		s.Phase, s.EndedAt = contract.BroadcastDone, now.Add(-d)
	}
}

func TestAStatusIsFlatAndHasEveryOutcome(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(broadcast.Status{
		Name: name, State: contract.BroadcastRunning, Total: 9, Pending: 5, Method: "sendMessage", AcceptedAt: began, RatePerS: 1.23456,
		Counts: contract.Counts{Outcomes: map[string]int{"delivered": 3, "uncertain": 1}, PossibleDuplicates: 2},
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"may","state":"running","total":9,"pending":5,"delivered":3,"unreachable":0,"expired":0,"superseded":0,
		"dropped":0,"rejected":0,"uncertain":1,"gave_up":0,"moved_twice":0,"not_sent":0,"possible_duplicate":2,"rate_per_s":1.23,"eta_s":null,
		"method":"sendMessage","rate_limit":0,"paid":false,"origin":"","accepted_at":"2026-05-01T12:00:00Z","at":null,"began_at":null,
		"ended_at":null,"actions":[]}`, string(text))
}

func TestAListIsOfBroadcastsTheNewestFirst(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.pages = 2
	s.part(1, 10)
	for i, name := range []string{"b", "d", "a", "c", "e"} {
		state := contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 4, Counts: reached(1), BeganAt: began, AcceptedAt: began.AddDate(0, 0, int(name[0]))}
		s.add(contract.BroadcastID(bot, name), &run{kind: contract.BroadcastWorkflow, state: state, status: enumspb.WorkflowExecutionStatus(1 + i%2)})
	}
	all, err := broadcast.List(t.Context(), s, bot)
	require.NoError(t, err)
	names := ""
	for _, b := range all {
		names += b.Name
		require.Equal(t, 3, b.Pending)
		require.Nil(t, b.ETA)
	}
	require.Equal(t, "edcba", names)
	s.err = errors.New("away")
	_, err = broadcast.List(t.Context(), s, bot)
	require.ErrorIs(t, err, s.err)
}

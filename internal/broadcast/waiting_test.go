package broadcast_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

func TestNothingWaitsInBroadcastsThatDoNotRun(t *testing.T) {
	t.Parallel()
	s := newServer()
	b := s.broadcast(contract.BroadcastState{})
	for _, phase := range []contract.BroadcastPhase{contract.BroadcastScheduled, contract.BroadcastPaused, contract.BroadcastCancelled} {
		b.state = contract.BroadcastState{Phase: phase, Total: 5, Running: []int{1}}
		w, err := broadcast.Wait(t.Context(), s, bot, 5)
		require.NoError(t, err)
		require.Equal(t, broadcast.Waiting{Requests: 1}, w)
	}
	b.state = contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 5, Counts: reached(6)}
	w, err := broadcast.Wait(t.Context(), s, bot, 5)
	require.NoError(t, err)
	require.Equal(t, broadcast.Waiting{Broadcasts: 1, Requests: 1}, w, "never less than nobody")
	s.err = errors.New("away")
	_, err = broadcast.Wait(t.Context(), s, bot, 5)
	require.ErrorIs(t, err, s.err)
}

func TestManyPartsAreLookedAtByOneRequestWithoutTheirOpenBatches(t *testing.T) {
	t.Parallel()
	for most, want := range map[int]broadcast.Waiting{
		3: {Broadcasts: 1, Recipients: 400 - 200 - 3*10 - 2*2, Requests: 4},
		2: {Broadcasts: 1, Recipients: 400 - 200 - 3*10, Requests: 2},
	} {
		s := newServer()
		s.broadcast(contract.BroadcastState{Phase: contract.BroadcastRunning, Total: 400, Counts: reached(200), Running: []int{3, 4, 5}})
		for n := range 9 {
			p := s.part(n+1, 40)
			p.state = contract.PartState{Counts: reached(10)}
			if n != 3 {
				p.batches = append(p.batches, pending(contract.SendBatchActivity, contract.BatchLedger{Results: results("1", "2")}))
			} else {
				p.status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED // and its broadcast has not heard
			}
		}
		w, err := broadcast.Wait(t.Context(), s, bot, most)
		require.NoError(t, err)
		require.Equal(t, want, w, most)
		require.Equal(t, w.Requests, s.requests)
	}
}

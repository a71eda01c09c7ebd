package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A message that is taken back when it may have arrived says so (part of G9). Only
// these tests catch a server that closes a call between two attempts, or with a
// process that is gone, and forgets what was known of it.

func TestG9AMessageTakenBackBetweenTwoAttemptsSaysThatItMayHaveArrived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.CreateChat(telegramsim.Chat{ID: 1002})
	w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 1001, Times: 1, Kind: telegramsim.FaultReset}) // it was taken
	for _, chat := range []int64{1001, 1002} {
		w.Fault(telegramsim.Fault{
			Method: "sendMessage", ChatID: chat, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusTooManyRequests,
			Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 60","parameters":{"retry_after":60}}`,
		})
	}
	ids := w.row(text(1001, "perhaps"), text(1002, "never"))
	w.eventually("both wait for their next attempt", func() bool { return len(w.to(1001)) == 2 && len(w.to(1002)) == 1 })
	for _, id := range ids {
		require.NoError(t, w.temporal.CancelWorkflow(t.Context(), id, ""))
	}
	ends := w.outcomes(ids...)
	require.Equal(t, contract.Cancelled, ends[0].Outcome)
	require.True(t, ends[0].PossibleDuplicate)
	require.Len(t, w.Ledger(1001), 1)
	require.Equal(t, contract.Cancelled, ends[1].Outcome)
	require.False(t, ends[1].PossibleDuplicate)
	require.Empty(t, w.Ledger(1002))
}

func TestG9AMessageTakenBackWhileItsProcessIsGoneSaysThatItMayHaveArrived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	for _, chat := range []int64{1001, 1002} {
		w.CreateChat(telegramsim.Chat{ID: chat})
		w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: chat, Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: time.Minute})
	}
	once := text(1002, "once")
	once.Delivery = contract.AtMostOnce
	ids := w.row(text(1001, "perhaps"), once)
	w.eventually("both are in the air", func() bool { return len(w.Ledger(0)) == 2 })
	b.kill()
	for _, id := range ids {
		require.NoError(t, w.temporal.CancelWorkflow(t.Context(), id, ""))
	}
	w.start()
	ends := w.outcomes(ids...)
	require.Equal(t, contract.Cancelled, ends[0].Outcome)
	require.True(t, ends[0].PossibleDuplicate)
	require.Equal(t, contract.ReasonUncertain, ends[1].Reason)
	require.Len(t, w.Ledger(0), 2, "nothing is sent any more")
}

package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G5: a message is sent again only when Telegram certainly did not take it, or
// when nobody knows and the message allows a duplicate. Only these tests catch
// a retry layer between our decision and the wire, or an answer read wrongly:
// they count what reached Telegram.

// lost are the ways in which Telegram takes a message and its answer is lost.
var lost = map[string]telegramsim.Fault{
	"reset":       {Kind: telegramsim.FaultReset},
	"502":         {Kind: telegramsim.FaultStatusAfter},
	"half a body": {Kind: telegramsim.FaultHalfBody},
	"garbage":     {Kind: telegramsim.FaultGarbage},
	"500 restart": {
		Kind: telegramsim.FaultStatusAfter, Status: http.StatusInternalServerError,
		Body: `{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}`,
	},
	"silence": {Kind: telegramsim.FaultHangAfter},
}

func TestG5AnAtMostOnceMessageIsNeverRepeated(t *testing.T) {
	t.Parallel()
	for name, fault := range lost {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			res, err := w.one("once upon a time", fault)
			require.Error(t, err, "the workflow is red")
			require.Equal(t, contract.ReasonUncertain, res.Reason)
			require.Equal(t, contract.Dead, res.Calls[0].Outcome)
			require.Len(t, w.calls("sendMessage"), 1)
			require.Len(t, w.Ledger(1001), 1)
		})
	}
}

func TestG5AnAtLeastOnceMessageIsRepeatedAndFlagged(t *testing.T) {
	t.Parallel()
	for name, fault := range lost {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			res, err := w.one("hello", fault)
			require.NoError(t, err)
			require.Equal(t, contract.Delivered, res.Calls[0].Outcome)
			require.True(t, res.Calls[0].PossibleDuplicate)
			require.Len(t, w.calls("sendMessage"), 2)
			require.Len(t, w.Ledger(1001), 2)
			sends := w.calls("sendMessage")
			require.GreaterOrEqual(t, sends[1].Arrived.Sub(sends[0].Arrived), time.Second)
		})
	}
}

func TestG5ADefiniteAnswerIsNeverUncertain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.one("bad", telegramsim.Fault{Method: "nothing"})
	require.Error(t, err)
	require.Equal(t, contract.ReasonRejected, res.Reason)
	require.Contains(t, res.Calls[0].Error, "message text is empty")
	require.Equal(t, contract.Dead, res.Calls[1].Outcome, "the rest goes with it")
	require.Len(t, w.calls("sendMessage"), 1)
	require.Empty(t, w.Ledger(1001))
}

func TestG5ABlockedChatCostsOneRequestAndNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.one("many 5", telegramsim.Fault{
		Kind: telegramsim.FaultStatus, Status: http.StatusForbidden,
		Body: `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`,
	})
	require.NoError(t, err)
	require.Len(t, res.Calls, 5)
	for _, c := range res.Calls {
		require.Equal(t, contract.Unreachable, c.Outcome)
	}
	require.Len(t, w.calls("sendMessage"), 1)
	w.confirmed()
}

func TestG5AMovedChatIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hello := w.SendTextFrom(-4002, 1001, "hello")
	b := w.start().ready()
	_, err := w.update(hello)
	require.NoError(t, err)
	b.kill()
	id := w.SendTextFrom(-4002, 1001, "again")
	moved := w.Migrate(-4002)
	w.start()
	res, err := w.update(id)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Calls[0].Outcome)
	require.Equal(t, []string{"re: again"}, w.texts(moved))
	require.Equal(t, strconv.FormatInt(moved, 10), res.Calls[0].MovedTo)
}

func TestG5ACallUnderWayWhenItsProcessDiesFollowsItsPolicy(t *testing.T) {
	t.Parallel()
	for text, atMostOnce := range map[string]bool{"once more": true, "hello": false} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b := w.start().ready()
			w.Fault(telegramsim.Fault{Method: "sendMessage", Times: 1, Kind: telegramsim.FaultHangAfter})
			id := w.SendText(1001, text)
			w.eventually("Telegram took it", func() bool { return len(w.Ledger(1001)) == 1 })
			b.kill()
			w.start()
			res, err := w.update(id)
			if atMostOnce {
				require.Error(t, err)
				require.Equal(t, contract.ReasonUncertain, res.Reason)
				require.Len(t, w.Ledger(1001), 1)
				return
			}
			require.NoError(t, err)
			require.True(t, res.Calls[0].PossibleDuplicate)
			require.Len(t, w.Ledger(1001), 2)
		})
	}
}

func TestG5AnExpiredCallIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res, err := w.one("short lived", telegramsim.Fault{
		Times: 100, Kind: telegramsim.FaultStatus, Status: http.StatusTooManyRequests,
		Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 3600","parameters":{"retry_after":3600}}`,
	})
	require.NoError(t, err)
	require.Equal(t, contract.Expired, res.Calls[0].Outcome)
	require.Len(t, w.calls("sendMessage"), 1)
}

// one runs a bot on one message whose first send meets the fault.
func (w *world) one(text string, fault telegramsim.Fault) (contract.UpdateResult, error) {
	w.t.Helper()
	if fault.Method == "" {
		fault.Method = "sendMessage"
	}
	if fault.Times == 0 {
		fault.Times = 1
	}
	if fault.Kind != "" {
		w.Fault(fault)
	}
	id := w.SendText(1001, text)
	w.start()
	return w.update(id)
}

func TestG5AMessageThatCertainlyDidNotLeaveIsSentOnceAndUnflagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	road := w.road()
	w.start().ready()
	id := w.SendText(1001, "slow 1500ms")
	w.eventually("the handler runs", func() bool { return len(w.runs()) == 1 })
	road.cut()
	w.eventually("a send was refused", func() bool { return w.pendingFailure(id) == contract.FailureUnavailable })
	road.reopen()
	res, err := w.update(id)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Calls[0].Outcome)
	require.False(t, res.Calls[0].PossibleDuplicate)
	require.Greater(t, res.Calls[0].Attempts, 1)
	require.Len(t, w.calls("sendMessage"), 1)
	require.Len(t, w.Ledger(1001), 1)
}

func TestG5AnEditIsRepeatedWithoutBeingFlagged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().ready()
	w.SendText(1001, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.Fault(telegramsim.Fault{Method: "editMessageText", Times: 1, Kind: telegramsim.FaultReset})
	text := fmt.Sprintf("edit %d", w.Ledger(1001)[0].ID)
	res, err := w.update(w.SendText(1001, text))
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Calls[0].Outcome, "not modified, says the second request")
	require.False(t, res.Calls[0].PossibleDuplicate)
	require.Len(t, w.calls("editMessageText"), 2)
	require.Equal(t, []string{text}, w.texts(1001))
}

// pendingFailure is the type of the last failure of an update's send under way,
// "" for none.
func (w *world) pendingFailure(id int64) string {
	d, err := w.temporal.DescribeWorkflow(w.t.Context(), contract.UpdateID(w.bot, id), "")
	if err != nil {
		return ""
	}
	for _, a := range d.RawResponse.GetPendingActivities() {
		return a.GetLastFailure().GetApplicationFailureInfo().GetType()
	}
	return ""
}

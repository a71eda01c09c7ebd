package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G4: updates of one chat are handled, and their replies sent, in order. Only
// these tests catch a reply that gets past an earlier one while that one waits,
// is retried, or is taken over by another process.

func TestG4AChatKeepsItsOrderAndTheOthersTheirPace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().ready()
	want := w.eight()
	w.SendText(1002, "A")
	w.eventually("the other chat is answered", func() bool { return len(w.Ledger(1002)) == 1 })
	require.Less(t, len(w.Ledger(1001)), len(want), "it did not wait for the slow one")
	w.eventually("all are answered", func() bool { return len(w.Ledger(1001)) == len(want) })
	require.Equal(t, want, w.texts(1001))
}

func TestG4AChatKeepsItsOrderAcrossAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().ready()
	want := w.eight()
	w.eventually("two are answered", func() bool { return len(w.Ledger(1001)) >= 2 })
	b.kill()
	w.start()
	w.eventually("all are answered", func() bool { return slices.Contains(w.texts(1001), want[len(want)-1]) })
	require.Equal(t, want, slices.Compact(w.texts(1001)))
}

func TestG4AChatKeepsItsOrderAcrossAStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().ready()
	want := w.eight()
	w.eventually("two are answered", func() bool { return len(w.Ledger(1001)) >= 2 })
	code, took := b.stop()
	require.Zero(t, code)
	require.Less(t, took, 25*time.Second)
	w.start()
	w.eventually("all are answered", func() bool { return slices.Contains(w.texts(1001), want[len(want)-1]) })
	require.Equal(t, want, w.texts(1001), "a stop doubles nothing")
}

// eight writes eight messages, of which the third takes its time, and returns
// the replies.
func (w *world) eight() []string {
	var want []string
	for i := 1; i <= 8; i++ {
		text := fmt.Sprintf("no %d", i)
		if i == 3 {
			text = "slow 3s"
		}
		w.SendText(1001, text)
		want = append(want, "re: "+text)
	}
	return want
}

func TestG4ARetriedCallIsNotOvertaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().ready()
	w.Fault(telegramsim.Fault{
		Method: "sendMessage", Nth: 1, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusTooManyRequests,
		Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 2","parameters":{"retry_after":2}}`,
	})
	w.Fault(telegramsim.Fault{Method: "sendMessage", Nth: 1, Times: 1, Kind: telegramsim.FaultStatus})
	for _, text := range []string{"A", "B", "C"} {
		w.SendText(1001, text)
	}
	w.eventually("all are answered", func() bool { return len(w.Ledger(1001)) == 3 })
	require.Equal(t, []string{"re: A", "re: B", "re: C"}, w.texts(1001))
	first, second := w.calls("sendMessage")[0], w.calls("sendMessage")[1]
	require.GreaterOrEqual(t, second.Arrived.Sub(first.Answered), 2*time.Second, "not before retry_after")
}

func TestG4ACallThatKeepsFailingIsOvertakenAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.overtaken()
	w.ClearFaults()
	var message contract.CallResult
	require.NoError(t, w.temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), &message))
	require.Equal(t, contract.Delivered, message.Outcome)
	require.True(t, message.Overtaken)
}

func TestG4AnEditThatWasOvertakenUndoesNoNewerOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	chat, id := w.overtaken()
	w.ClearFaults()
	w.send(chat, "--method=editMessageText", fmt.Sprintf(`--params={"message_id":%d,"text":"newer"}`, w.Ledger(chat)[0].ID))
	require.NoError(t, w.temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))
	w.eventually("the message says what is newest", func() bool { return w.texts(chat)[0] == "newer" })
}

// overtaken has the edit of a message fail, as all do, until another update of its
// chat is answered. It returns the chat, and the workflow in which the edit goes on.
func (w *world) overtaken() (int64, string) {
	w.t.Helper()
	w.start().ready()
	// Backoff is chance: a call may fail for the eighth time within the minute, but
	// hardly three of them.
	stuck := map[int64]int64{1001: 0, 1002: 0, 1003: 0}
	for chat := range stuck {
		w.SendText(chat, "hello")
		w.eventually("the chat is there", func() bool { return len(w.Ledger(chat)) == 1 })
	}
	// Only the call that edits fails, before Telegram takes it.
	w.Fault(telegramsim.Fault{Method: "editMessageText", Kind: telegramsim.FaultStatus})
	for chat := range stuck {
		stuck[chat] = w.SendText(chat, fmt.Sprintf("edit %d", w.Ledger(chat)[0].ID))
		w.SendText(chat, "B")
	}
	var res contract.UpdateResult
	var left int64
	require.Eventually(w.t, func() bool {
		for chat, id := range stuck {
			if len(w.Ledger(chat)) == 2 { // B is answered
				delete(stuck, chat)
				var err error
				if res, err = w.update(id); err == nil {
					left = chat
					return true
				}
			}
		}
		return false
	}, 4*time.Minute, 100*time.Millisecond)
	require.True(w.t, res.Calls[0].Overtaken)
	require.Equal(w.t, contract.Pending, res.Calls[0].Outcome)
	return left, res.Calls[0].WorkflowID
}

func TestG4AnUpdateEndedInBetweenLetsNobodyAhead(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, workflow string) error{
		"cancelled":  func(w *world, id string) error { return w.temporal.CancelWorkflow(t.Context(), id, "") },
		"terminated": func(w *world, id string) error { return w.temporal.TerminateWorkflow(t.Context(), id, "", "by hand") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.start("--handler-timeout", "60s").onDuty()
			w.SendText(1001, "slow 40s")
			between := w.SendText(1001, "between")
			w.SendText(1001, "last")
			workflow := contract.UpdateID(w.bot, between)
			// In its first seconds it waits in memory, where a cancellation does not reach it.
			w.eventually("it waits for a signal", func() bool {
				d, err := w.temporal.DescribeWorkflow(t.Context(), workflow, "")
				return err == nil && d.HistoryLength >= 6
			})
			require.Empty(t, w.texts(1001), "the one before it is still handled")
			require.NoError(t, end(w, workflow))
			w.eventually("the last is answered", func() bool { return slices.Contains(w.texts(1001), "re: last") })
			require.Equal(t, []string{"re: slow 40s", "re: last"}, w.texts(1001))
			_, err := w.update(between)
			require.Error(t, err)
		})
	}
}

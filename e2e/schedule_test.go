package e2e_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
	"github.com/durabot/durabot/starter"
)

// A message for later leaves at its time: never before, and hardly after. Only
// these tests catch a time that is kept by a process, or by the server's memory.

func TestScheduleAMessageLeavesAtItsTimeThoughTheBotIsKilledBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateChat(telegramsim.Chat{ID: 2000})
	b := w.start().onDuty()
	at := time.Now().Add(25 * time.Second)
	r := w.send(2000, "--text", "at last", "--at", at.Format(time.RFC3339Nano))
	require.Equal(t, contract.Pending, r.Outcome)
	b.kill()
	w.start().onDuty()
	w.onTime(at)
}

func TestScheduleAMessageLeavesAtItsTimeThoughTemporalIsRestarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateChat(telegramsim.Chat{ID: 2000})
	server, err := devserver.Start(t.Context(), devserver.Options{
		Path: shared.cli, DBFile: filepath.Join(w.dir, "temporal.db"), LogFile: filepath.Join(w.dir, "temporal.log"),
	})
	require.NoError(t, err)
	defer func() { server.Stop() }()
	w.dial(server.Addr())
	b := w.startVia(server.Addr()).ready()
	at := time.Now().Add(30 * time.Second)
	call := text(2000, "at last")
	call.At = at
	_, err = starter.NewMessages(w.temporal, w.bot, true).Send(t.Context(), starter.Message{Key: "later", Call: call})
	require.NoError(t, err)
	b.kill()
	server.Kill()
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	w.startVia(server.Addr()).ready()
	w.onTime(at)
}

// onTime waits for the message that was to leave at a time.
func (w *world) onTime(at time.Time) {
	w.t.Helper()
	require.True(w.t, time.Now().Before(at), "the test was too slow to see it")
	w.eventually("it is sent", func() bool { return len(w.Ledger(2000)) == 1 })
	arrived := w.calls("sendMessage")[0].Arrived
	require.False(w.t, arrived.Before(at), "%v early", at.Sub(arrived))
	require.Less(w.t, arrived.Sub(at), 2*time.Second)
}

func TestScheduleATimeInThePastIsNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.start().onDuty()
	r := w.send(2000, "--text", "at once", "--at", "2020-01-31T09:00:00Z", "--wait")
	require.Equal(t, contract.Delivered, r.Outcome)
	_, code := w.durabot("send", "--chat=2000", "--text", "whose nine o'clock?", "--at", "2030-01-31T09:00:00")
	require.Equal(t, 2, code)
	require.Len(t, w.Ledger(2000), 1)
}

func TestScheduleAMessageAfterAnotherWaitsForItHoweverLongThatTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, chat := range []int64{2000, 2001} {
		w.CreateChat(telegramsim.Chat{ID: chat})
	}
	w.start().onDuty()
	w.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 2000, Kind: telegramsim.FaultStatus, Times: 2})
	first := w.send(2000, "--text", "first", "--key", "first")
	second := w.send(2001, "--text", "second", "--key", "second", "--after", "first")
	third := w.send(2001, "--text", "third", "--key", "third", "--after", "second")
	for _, res := range w.outcomes(first.WorkflowID, second.WorkflowID, third.WorkflowID) {
		require.Equal(t, contract.Delivered, res.Outcome)
	}
	require.Equal(t, []string{"second", "third"}, w.texts(2001))
	sent := w.Ledger(0)
	require.Equal(t, []string{"first", "second", "third"}, []string{sent[0].Text, sent[1].Text, sent[2].Text})
	_, code := w.durabot("send", "--chat=2000", "--text", "x", "--after", "no-such-key")
	require.Equal(t, 1, code)
}

package e2e_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A message for later leaves at its time: never before, and hardly after. Only
// these tests catch a time that is kept by a process, or by the server's memory.

func TestScheduleMessagesLeaveAtTheirTimeThoughTheBotIsKilledBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	due := w.later(25 * time.Second)
	b.kill()
	w.start().onDuty()
	w.onTime(due)
}

func TestScheduleMessagesLeaveAtTheirTimeThoughTemporalIsRestarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.ownServer()
	defer func() { server.Stop() }()
	b := w.startVia(server.Addr()).ready()
	due := w.later(30 * time.Second)
	b.kill()
	server.Kill()
	var err error
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	w.startVia(server.Addr()).onDuty()
	w.onTime(due)
}

// later accepts a message each to three chats, a second apart, and returns when
// they are due.
func (w *world) later(wait time.Duration) map[int64]time.Time {
	w.t.Helper()
	due := map[int64]time.Time{}
	for i := range int64(3) {
		chat := 2000 + i
		w.CreateChat(telegramsim.Chat{ID: chat})
		call := text(chat, "at last")
		call.At = time.Now().Add(wait + time.Duration(i)*time.Second)
		_, err := w.enqueue(fmt.Sprintf("later-%d", i), call)
		require.NoError(w.t, err)
		due[chat] = call.At
	}
	return due
}

// onTime waits for messages that were to leave at a time. None may be early. That
// they are hardly late is judged by the second of three, for a machine that stops
// for a moment.
func (w *world) onTime(due map[int64]time.Time) {
	w.t.Helper()
	there := time.Now() // with a process on duty
	w.eventually("they are sent", func() bool { return len(w.Ledger(0)) == len(due) })
	var late []time.Duration
	for _, r := range w.calls("sendMessage") {
		require.False(w.t, r.Arrived.Before(due[r.ChatID]), "%v early", due[r.ChatID].Sub(r.Arrived))
		late = append(late, min(r.Arrived.Sub(due[r.ChatID]), r.Arrived.Sub(there))-shared.stalls.between(due[r.ChatID], r.Arrived))
	}
	slices.Sort(late)
	require.Less(w.t, late[1], 2*time.Second, "%v", late)
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

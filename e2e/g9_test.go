package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G9: every accepted call ends in exactly one listed outcome. Only these tests
// catch a call that ends otherwise than Telegram saw it, or never.

func TestG9EveryCallEndsInExactlyOneOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	for _, chat := range []int64{2000, 2001, 2002} {
		w.CreateChat(telegramsim.Chat{ID: chat})
	}
	w.Block(2001)
	w.Fault(telegramsim.Fault{Method: "sendPhoto", Kind: telegramsim.FaultReset})
	for _, call := range []struct {
		key    string
		want   contract.Outcome
		reason contract.Reason
		sent   int // messages that reached Telegram
		args   []string
	}{
		{"a", contract.Delivered, "", 1, []string{"--chat=2000", "--text", "delivered"}},
		{"b", contract.Unreachable, "", 0, []string{"--chat=2001", "--text", "blocked"}},
		{"c", contract.Unreachable, "", 0, []string{"--chat=2999", "--text", "never seen"}},
		{"d", contract.Dead, contract.ReasonRejected, 0, []string{"--chat=2000", "--method", "sendMessage", "--params", `{"text":""}`}},
		{"e", contract.Dead, contract.ReasonRejected, 0, []string{"--chat=2000", "--method", "sendDocument", "--params", `{"document":{"@file":"/nowhere/at/all"}}`}},
		{"f", contract.Dead, contract.ReasonUncertain, 1, []string{"--chat=2002", "--method", "sendPhoto", "--params", `{"photo":"AgAC"}`, "--delivery", "at-most-once"}},
		{"g", contract.Cancelled, "", 0, []string{"--chat=2000", "--text", "not sent", "--after", "d", "--after-delivered"}},
	} {
		before := len(w.Ledger(0))
		out, code := w.durabot(append([]string{"send", "-o", "json", "--wait", "--key", call.key}, call.args...)...)
		r := parse[receipt](t, out)
		require.Equal(t, call.want, r.Outcome, out)
		require.Equal(t, call.reason, r.Reason, out)
		require.Equal(t, call.want == contract.Delivered, code == 0, "the exit code of --wait says whether it was delivered")
		require.Equal(t, call.want == contract.Dead, r.DeadLetter != "", "what is dead has a letter: %s", out)
		require.Len(t, w.Ledger(0), before+call.sent)
		require.Equal(t, r, w.shown(r.Key), "whoever asks later is told the same")
	}
}

func TestG9ACallWaitsAsPendingAndExpiresInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.must("pause", "--reason", "a test")
	waits := w.send(2000, "--text", "in time")
	late := w.send(2000, "--text", "too late", "--ttl", "2s")
	require.Equal(t, contract.Pending, waits.Outcome)
	require.Equal(t, contract.Expired, w.outcomes(late.WorkflowID)[0].Outcome)
	require.Equal(t, contract.Pending, w.shown(waits.Key).Outcome)
	w.must("resume")
	require.Equal(t, contract.Delivered, w.outcomes(waits.WorkflowID)[0].Outcome)
	require.Equal(t, []string{"in time"}, w.texts(2000))
}

func TestG9ACancelledMessageIsNeverSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	later := w.send(2000, "--text", "tomorrow", "--in", "24h")
	w.must("pause", "--reason", "a test")
	waiting := w.send(2000, "--text", "today")
	w.eventually("it waits for the budget", func() bool { return w.onItsWay(waiting.WorkflowID) })
	for _, r := range []receipt{later, waiting} {
		require.Equal(t, contract.Cancelled, parse[receipt](t, w.must("message", "cancel", r.Key, "-o", "json")).Outcome)
		require.Equal(t, contract.Cancelled, w.shown(r.Key).Outcome)
	}
	w.must("resume")
	last := w.send(2000, "--text", "the only one", "--wait")
	require.Equal(t, contract.Delivered, last.Outcome)
	require.Equal(t, []string{"the only one"}, w.texts(2000))
	_, code := w.durabot("message", "cancel", last.Key)
	require.Equal(t, 1, code, "too late")
	_, code = w.durabot("message", "cancel", "no-such-key")
	require.Equal(t, 1, code)
}

func TestG9ACancelThatComesWhileARequestIsInTheAirTellsWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.Fault(telegramsim.Fault{Method: "sendMessage", Kind: telegramsim.FaultDelayAfter, Wait: 3 * time.Second, Times: 1})
	r := w.send(2000, "--text", "on its way")
	w.eventually("Telegram has it", func() bool { return len(w.Ledger(2000)) == 1 })
	out, code := w.durabot("message", "cancel", r.Key, "-o", "json")
	require.Equal(t, 1, code, "too late")
	require.Equal(t, contract.Delivered, parse[receipt](t, out).Outcome)
}

func TestG9TextThatTelegramCannotParseGoesPlainOnlyWhenThatIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	params := `{"text":"a *bold claim","parse_mode":"MarkdownV2"}`
	dead := w.send(2000, "--method", "sendMessage", "--params", params, "--wait")
	require.Equal(t, contract.ReasonRejected, dead.Reason)
	require.Contains(t, dead.Error, "byte offset", "it says where")
	require.NotContains(t, dead.Error, "claim", "and not what")
	plain := w.send(2000, "--method", "sendMessage", "--params", params, "--plain-fallback", "--wait")
	require.Equal(t, contract.Delivered, plain.Outcome)
	require.True(t, plain.Degraded)
	require.Equal(t, []string{"a *bold claim"}, w.texts(2000))
	require.Len(t, w.calls("sendMessage"), 3)
	w.Fault(telegramsim.Fault{
		Method: "sendMessage", Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest, Times: 1,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: message is too long"}`,
	})
	other := w.send(2000, "--method", "sendMessage", "--params", params, "--plain-fallback", "--wait", "--key", "another 400")
	require.Equal(t, contract.ReasonRejected, other.Reason, "another 400 is no reason to go plain")
	require.Len(t, w.calls("sendMessage"), 4)
}

func TestG9AFileIsReadWhenItIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	path := filepath.Join(w.dir, "report.txt")
	require.NoError(t, os.WriteFile(path, []byte("all is well"), 0o600))
	params := `{"document":{"@file":"` + path + `"}}`
	require.Equal(t, contract.Delivered, w.send(2000, "--method", "sendDocument", "--params", params, "--wait").Outcome)
	later := w.send(2000, "--method", "sendDocument", "--params", params, "--in", "2s", "--key", "gone")
	require.NoError(t, os.Remove(path))
	res := w.outcomes(later.WorkflowID)[0]
	require.Equal(t, contract.ReasonRejected, res.Reason)
	require.Contains(t, res.Error, "report.txt")
	require.Equal(t, 1, res.Attempts, "trying again would not bring it back")
}

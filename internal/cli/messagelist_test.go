package cli_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// keys lists until these are what is found, in this order: what is searched lags
// a little.
func (o operator) keys(t *testing.T, want []string, args ...string) {
	t.Helper()
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		c := run(context.Background(), o.env, append([]string{"message", "list", "-o", "json"}, args...)...)
		var rows []struct{ Key string }
		require.NoError(t, json.Unmarshal([]byte(c.out), &rows), c.errout)
		found := []string{}
		for _, r := range rows {
			found = append(found, r.Key)
		}
		require.Equal(t, want, found)
	}, patience, 100*time.Millisecond, args)
}

func TestAListOfMessagesIsNarrowedByWhatBecameOfThem(t *testing.T) {
	t.Parallel()
	address, name := temporal(t), newName("outcomes")
	require.NoError(t, registerNamespace(t.Context(), address, name))
	env := map[string]string{"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": name}
	c := run(t.Context(), env, "message", "list", "--chat", "42", "--bot", "7")
	require.Equal(t, "durabot: --chat: the search attribute TgChat is not registered: run `durabot setup`\n", c.errout)
	c = run(t.Context(), env, "message", "list", "--outcome", "expired", "--bot", "7")
	require.Equal(t, "durabot: --outcome: the search attribute TgOutcome is not registered: run `durabot setup`\n", c.errout)
	require.Zero(t, run(t.Context(), env, "setup").code)

	o := running(t, name)
	o.meet(t, 42)
	o.meet(t, 43)
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "good", "--wait")
	o.send(t, 1, "--chat", "42", "--method", "sendMessage", "--params", `{"text":""}`, "--key", "bad", "--wait")
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "later", "--in", "10h")
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "behind", "--after", "later")
	o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "withdrawn", "--in", "10h")
	o.message(t, 0, "cancel", "withdrawn")
	o.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 43, Kind: telegramsim.FaultStatus, Status: 502, Times: 1})
	o.send(t, 0, "--chat", "43", "--text", "hello PRIVATE", "--key", "twice", "--wait")
	o.Block(43)
	o.send(t, 1, "--chat", "43", "--method", "sendPhoto", "--params", `{"photo":"https://example.org/x.jpg"}`, "--key", "blocked", "--wait")

	all := []string{"blocked", "twice", "withdrawn", "behind", "later", "bad", "good"}
	o.keys(t, all)
	o.keys(t, all[:2], "--chat", "43")
	o.keys(t, all[:1], "--method", "sendPhoto")
	o.keys(t, all, "--since", "1h")
	o.keys(t, []string{}, "--since", "2100-01-01T00:00:00Z")
	o.keys(t, all[:3], "--limit", "3")
	for outcome, want := range map[string][]string{
		"scheduled": {"later"}, "pending": {"behind"}, "delivered": {"twice", "good"}, "possible_duplicate": {"twice"}, "unreachable": {"blocked"},
		"dead": {"bad"}, "rejected": {"bad"}, "cancelled": {"withdrawn"}, "expired": {}, "superseded": {},
	} {
		o.keys(t, want, "--outcome", outcome)
	}
}

// A handler's message for later is started at once, and is scheduled all the same.
func TestAMessageOfAHandlerForLaterIsScheduled(t *testing.T) {
	t.Parallel()
	address, name := temporal(t), newName("handlers")
	require.NoError(t, registerNamespace(t.Context(), address, name))
	require.Zero(t, run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": name}, "setup").code)
	o := running(t, name)
	o.SendText(42, "later PRIVATE")
	o.keys(t, []string{"reminder"}, "--outcome", "scheduled")
	o.keys(t, []string{}, "--outcome", "pending")
	c := run(t.Context(), o.env, "message", "list")
	require.Regexp(t, `reminder +sendMessage +42 +scheduled +\d{4}-`, c.out)
	s, _ := o.message(t, 0, "cancel", "reminder", "-o", "json")
	require.Equal(t, "cancelled", s.Outcome)
}

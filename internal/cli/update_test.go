package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/telegramsim"
)

// operator is a bot that runs, and someone who looks at it.
type operator struct {
	*telegramsim.Sim

	env map[string]string
}

// running is a bot whose handler fails on "fail" and is asked in vain; "later" it
// answers in ten hours.
func running(t *testing.T, namespace string) operator {
	t.Helper()
	address := temporal(t)
	sim, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"], env["TEMPORAL_NAMESPACE"] = address, namespace
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var logs safeBuffer
	go func() {
		ended <- cli.Program{
			Handler: handler, Args: []string{"run", "--http", ""}, Stdout: &logs, Stderr: &logs,
			Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		}.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		require.Zero(t, <-ended, logs.String())
		require.NotContains(t, logs.String(), "PRIVATE")
	})
	return operator{sim, env}
}

func handler(ctx context.Context, u durabot.Update) ([]durabot.Call, error) {
	if strings.HasPrefix(u.Text(), "fail") {
		return nil, errors.New("no answer to " + u.Text())
	}
	if strings.HasPrefix(u.Text(), "later") {
		params := durabot.Params{"chat_id": u.ChatID, "text": u.Text()}
		return []durabot.Call{{Method: "sendMessage", Params: params, Key: "reminder", At: u.ReceivedAt.Add(10 * time.Hour)}}, nil
	}
	return durabot.Echo(ctx, u)
}

// bot is the bot's id.
func (o operator) bot() int64 {
	id, _, _ := strings.Cut(o.Token(), ":")
	bot, _ := strconv.ParseInt(id, 10, 64)
	return bot
}

// rows lists until there are as many as expected: what is searched lags a little.
func (o operator) rows(t *testing.T, n int, args ...string) []map[string]any {
	t.Helper()
	var rows []map[string]any
	require.Eventually(t, func() bool {
		c := run(t.Context(), o.env, append([]string{"update", "list", "-o", "json"}, args...)...)
		return c.code == 0 && json.Unmarshal([]byte(c.out), &rows) == nil && len(rows) == n
	}, patience, 50*time.Millisecond)
	return rows
}

// patience bounds every wait.
const patience = 20 * time.Second

func TestListAndStoryOfARunningBot(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	first := o.SendText(42, "hello PRIVATE")
	require.Eventually(t, func() bool { return len(o.Ledger(42)) == 1 }, patience, 20*time.Millisecond)
	bad := o.SendText(43, "fail PRIVATE")
	failed := o.rows(t, 1, "--status", "failed")
	require.Equal(t, strconv.FormatInt(bad, 10), failed[0]["update_id"])
	require.Equal(t, "dead", failed[0]["outcome"])
	require.Equal(t, "handler_failed", failed[0]["reason"])
	require.Equal(t, "43", failed[0]["chat_id"])

	all := o.rows(t, 2)
	require.Equal(t, strconv.FormatInt(bad, 10), all[0]["update_id"], "the newest first")
	require.Equal(t, strconv.FormatInt(first, 10), all[1]["update_id"])
	require.Equal(t, "done", all[1]["outcome"])
	require.Len(t, o.rows(t, 1, "--limit", "1"), 1)
	require.Equal(t, strconv.FormatInt(first, 10), o.rows(t, 1, "--chat", "42")[0]["update_id"])
	o.rows(t, 0, "--status", "running")
	o.rows(t, 1, "--status", "completed")

	c := run(t.Context(), o.env, "update", "show", strconv.FormatInt(bad, 10))
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "outcome   dead (handler_failed), failed\n")
	require.Contains(t, c.out, "not handled: 3 attempts of 3")
	require.Contains(t, c.out, "it returned an error")
	require.NotContains(t, c.out, "PRIVATE")
	d, _ := examine(t, o.env)
	require.Equal(t, "ok", d.levels()["workers"])
	require.Equal(t, "warning", d.levels()["failed_updates"])
}

func TestStoryOfACallThatWaits(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 42, Kind: telegramsim.FaultStatus, Status: 502})
	update := strconv.FormatInt(o.SendText(42, "hello PRIVATE"), 10)
	var c console
	require.Eventually(t, func() bool {
		c = run(t.Context(), o.env, "update", "show", update)
		return strings.Contains(c.out, "sendMessage → chat 42: waiting")
	}, patience, 50*time.Millisecond)
	require.Contains(t, c.out, "outcome   pending, running\n")
	require.Regexp(t, `…  sendMessage → chat 42: waiting, \d attempts?, next at \S+, POSSIBLE DUPLICATE, Unavailable, telegram: sendMessage: status 502`, c.out)
	require.NotContains(t, c.out, "PRIVATE")
	require.Equal(t, update, o.rows(t, 1, "--status", "running")[0]["update_id"])

	later := strconv.FormatInt(o.SendText(43, "hello"), 10)
	require.Eventually(t, func() bool { return len(o.Ledger(43)) == 1 }, patience, 20*time.Millisecond)
	o.rows(t, 1, "--status", "completed")
	require.Equal(t, later, o.rows(t, 1, "--limit", "1")[0]["update_id"], "an older open one does not stand before it")
	o.ClearFaults()
}

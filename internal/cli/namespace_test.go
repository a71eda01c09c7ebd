package cli_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

// registerNamespace makes one with retention 24 h and no search attributes, and
// returns when the server's parts know of it.
func registerNamespace(ctx context.Context, address, name string) error {
	c, err := client.NewLazyClient(client.Options{HostPort: address, Namespace: name})
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	for err == nil {
		_, known := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: name})
		if known == nil || ctx.Err() != nil {
			return known
		}
	}
	return err
}

func TestSetupMakesANamespaceReadyForABot(t *testing.T) {
	t.Parallel()
	_, env := fakeTelegram(t)
	name := newName("strangers")
	env["TEMPORAL_ADDRESS"], env["TEMPORAL_NAMESPACE"] = temporal(t), name
	c := run(t.Context(), env, "setup")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, `TEMPORAL_NAMESPACE: no namespace "`+name+`"`)

	require.NoError(t, registerNamespace(t.Context(), env["TEMPORAL_ADDRESS"], name))
	d, _ := examine(t, env)
	require.Equal(t, "problem", d.levels()["retention"])
	require.Equal(t, "warning", d.levels()["search_attributes"])
	c = run(t.Context(), env, "update", "list", "--kind", "message")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: --kind: the search attribute TgKind is not registered: run `durabot setup`\n", c.errout)

	c = run(t.Context(), env, "setup")
	require.Zero(t, c.code, c.errout)
	require.Contains(t, c.out, "retention: raised from 24h to 168h\n")
	require.Contains(t, c.out, "search attributes: registered TgChat, TgKind, TgOutcome (Keyword)")
	c = run(t.Context(), env, "update", "list", "--kind", "message", "--chat", "42", "-o", "json")
	require.Equal(t, "[]\n", c.out, "usable as soon as setup is done: "+c.errout)
	c = run(t.Context(), env, "setup")
	require.Equal(t, 2, strings.Count(c.out, "nothing to do"), c.out+c.errout)
	d, _ = examine(t, env)
	require.True(t, d.OK)
	require.Equal(t, "ok", d.levels()["search_attributes"])
}

func TestAttributesNarrowAListByKind(t *testing.T) {
	t.Parallel()
	address, name := temporal(t), newName("kinds")
	require.NoError(t, registerNamespace(t.Context(), address, name))
	require.Zero(t, run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": name}, "setup").code)
	o := running(t, name)
	update := strconv.FormatInt(o.SendText(42, "hello"), 10)
	require.Eventually(t, func() bool { return len(o.Ledger(42)) == 1 }, patience, 20*time.Millisecond)
	o.PressButton(42, 2, "yes")
	o.rows(t, 2, "--chat", "42")
	rows := o.rows(t, 1, "--chat", "42", "--kind", "message")
	require.Equal(t, update, rows[0]["update_id"])
	require.Equal(t, "message", rows[0]["kind"])
	require.Equal(t, "callback_query", o.rows(t, 1, "--kind", "callback_query")[0]["kind"])
	o.rows(t, 0, "--chat", "43")
}

func TestRunSaysInOneLineWhyItCannot(t *testing.T) {
	t.Parallel()
	sim, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = temporal(t)
	post(t, env["TELEGRAM_API_URL"]+"/bot"+sim.Token()+"/setWebhook?url=https://example.org/hook/SECRET", "")
	c := run(t.Context(), env, "run", "--http", "")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: a webhook at example.org is set for this bot, so polling cannot work: "+
		"remove it with --take-over or the Bot API's deleteWebhook, or run with --intake webhook or none\n", c.errout)

	env["TELEGRAM_BOT_TOKEN"] = someToken
	c = run(t.Context(), env, "run", "--http", "")
	require.Equal(t, 1, c.code)
	require.Regexp(t, `^durabot: TELEGRAM_BOT_TOKEN: Telegram refuses this token .*: copy it anew from @BotFather\n$`, c.errout)

	env["TEMPORAL_NAMESPACE"] = "nobodys"
	c = run(t.Context(), env, "run", "--http", "")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, `durabot: TEMPORAL_NAMESPACE: no namespace "nobodys"`)
	require.NotContains(t, c.errout, "SECRET")

	c = run(t.Context(), env, "run", "--http", "127.0.0.1:notaport")
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, "choose another address with --http")
}

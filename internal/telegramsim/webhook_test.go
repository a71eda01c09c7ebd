package telegramsim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The rules here are those of tdlib/telegram-bot-api Client.cpp
// (process_set_webhook_query, do_set_webhook).

func TestWhatSetWebhookRefuses(t *testing.T) {
	t.Parallel()
	plain := telegramsim.Options{PlainWebhooks: true, NoPollRules: true}
	for _, c := range []struct {
		name   string
		opts   telegramsim.Options
		params params
		want   string // "" is accepted
	}{
		{"HTTPS", telegramsim.Options{}, params{"url": "https://example.org/x?y=1"}, ""},
		{"a port of Telegram's", telegramsim.Options{}, params{"url": "https://example.org:8443"}, ""},
		{"no scheme", telegramsim.Options{}, params{"url": "example.org/x"}, ""},
		{"HTTP", telegramsim.Options{}, params{"url": "http://example.org"}, "bad webhook: An HTTPS URL must be provided for webhook"},
		{
			"another port",
			telegramsim.Options{},
			params{"url": "https://example.org:8080"},
			"bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
		},
		{"HTTP where it is allowed", plain, params{"url": "http://127.0.0.1:1/x"}, ""},
		{"any port where plain is allowed", plain, params{"url": "https://127.0.0.1:1/x"}, ""},
		{"another scheme", plain, params{"url": "ftp://example.org"}, "invalid webhook URL specified"},
		{"no host", plain, params{"url": "http:///x"}, "invalid webhook URL specified"},
		{"no URL", plain, params{"url": "http://a b"}, "invalid webhook URL specified"},
		{"the longest secret", telegramsim.Options{}, params{"url": hookURL, "secret_token": strings.Repeat("a", 256)}, ""},
		{"a secret of all kinds", telegramsim.Options{}, params{"url": hookURL, "secret_token": "azAZ09_-"}, ""},
		{"a longer secret", telegramsim.Options{}, params{"url": hookURL, "secret_token": strings.Repeat("a", 257)}, "secret token is too long"},
		{"a secret in Base64", telegramsim.Options{}, params{"url": hookURL, "secret_token": "a+b="}, "secret token contains unallowed characters"},
		{"a secret with a foreign letter inside", telegramsim.Options{}, params{"url": hookURL, "secret_token": "aéb"}, "secret token contains unallowed characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sim := newSim(t, c.opts)
			e := direct(t, sim, "setWebhook", c.params)
			if c.want == "" {
				require.True(t, e.OK, e.Description)
				require.Equal(t, "Webhook was set", e.Description)
				require.Equal(t, c.params["url"], webhookInfo(t, sim).URL)
				return
			}
			require.Equal(t, 400, e.Code)
			require.Equal(t, "Bad Request: "+c.want, e.Description)
			require.Empty(t, webhookInfo(t, sim).URL)
		})
	}
}

func TestARefusedWebhookTakesTheOldOneWithIt(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.True(t, b.call("setWebhook", params{"url": hookURL}).OK)
	require.Equal(t, 400, b.call("setWebhook", params{"url": hookURL, "secret_token": "a+b="}).Code)
	require.Empty(t, updateIDs(t, b.call("getUpdates", nil)), "nothing conflicts any more")
}

func TestMaxConnectionsAreHeldBetweenOneAndAHundred(t *testing.T) {
	t.Parallel()
	for given, want := range map[any]int{nil: 40, "": 40, 0: 1, -3: 1, 1: 1, 100: 100, 101: 100} {
		t.Run(fmt.Sprint(given), func(t *testing.T) {
			t.Parallel()
			sim := newSim(t, telegramsim.Options{})
			require.Zero(t, webhookInfo(t, sim).MaxConnections, "none without a webhook")
			require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL, "max_connections": given}).OK)
			require.Equal(t, want, webhookInfo(t, sim).MaxConnections)
		})
	}
}

func TestTheSameWebhookAgainChangesAllowedUpdatesOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, never)
		sim.SendText(1001, "on its way")
		synctest.Wait()
		e := direct(t, sim, "setWebhook", params{"url": hookURL, "allowed_updates": `["poll"]`})
		require.Equal(t, "Webhook is already set", e.Description)
		require.Equal(t, []string{"poll"}, webhookInfo(t, sim).Allowed)
		synctest.Wait()
		require.Len(t, r.all(), 2, "what was on its way still is")

		for _, other := range []params{
			{"url": hookURL, "secret_token": "s"},
			{"url": hookURL, "max_connections": 7},
			{"url": hookURL + "2"},
			{"url": hookURL + "2", "drop_pending_updates": true},
		} {
			require.Equal(t, "Webhook was set", direct(t, sim, "setWebhook", other).Description, other)
		}
	})
}

func TestDeletingAWebhookTellsWhetherThereWasOne(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.Equal(t, "Webhook is already deleted", b.call("deleteWebhook", nil).Description)
	b.call("setWebhook", params{"url": hookURL})
	require.Equal(t, "Webhook was deleted", b.call("deleteWebhook", nil).Description)
	b.call("setWebhook", params{"url": hookURL})
	require.Equal(t, "Webhook was deleted", b.call("setWebhook", params{"url": ""}).Description)
}

func TestAHastySetWebhookIsToldToWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL}).OK)
		time.Sleep(time.Second - time.Nanosecond)
		e := direct(t, sim, "setWebhook", params{"url": hookURL})
		require.Equal(t, 429, e.Code)
		require.Equal(t, 1, e.Parameters.RetryAfter)
		require.True(t, direct(t, sim, "deleteWebhook", nil).OK, "taking it away may hurry")
		time.Sleep(time.Nanosecond)
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL}).OK)

		calm := newSim(t, telegramsim.Options{NoPollRules: true})
		for range 3 {
			require.True(t, direct(t, calm, "setWebhook", params{"url": hookURL}).OK)
		}
	})
}

func TestAWebhookSurvivesARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opts := telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json")}
		set := params{"max_connections": 7, "secret_token": "s3cret", "allowed_updates": `["message"]`}
		before, _ := hooked(t, opts, set, never)
		id := before.SendText(1001, "cut by the restart")
		before.Push([]byte(`{"update_id":5,"message":{"chat":{"id":1002}}}`))
		synctest.Wait()
		require.NoError(t, before.Close())
		want := webhookInfo(t, before)
		require.Equal(t, 2, want.Pending)

		after, r := unhooked(t, opts, nil)
		require.Equal(t, want.MaxConnections, webhookInfo(t, after).MaxConnections)
		require.Equal(t, want.Allowed, webhookInfo(t, after).Allowed)
		time.Sleep(time.Second)
		require.Equal(t, []int64{id, 5}, r.ids())
		require.Equal(t, "s3cret", r.all()[0].header.Get("X-Telegram-Bot-Api-Secret-Token"))
		require.Equal(t, hookURL, r.all()[0].url)
		require.Zero(t, after.Pending())
	})
}

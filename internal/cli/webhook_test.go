package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/telegramsim"
)

// posted is a process whose updates are posted to it.
type posted struct {
	logs    *safeBuffer
	address string
	stop    context.CancelFunc
	ended   chan int
}

var listens = regexp.MustCompile(`"msg":"listening","address":"([^"]+)"`)

// serving runs one and waits until it listens.
func serving(t *testing.T, env map[string]string, args ...string) *posted {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &posted{logs: &safeBuffer{}, stop: stop, ended: make(chan int, 1)}
	go func() {
		p.ended <- cli.Program{
			Handler: handler, Args: append([]string{"run", "--http", "127.0.0.1:0"}, args...), Stdout: p.logs, Stderr: p.logs,
			Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		}.Run(ctx)
	}()
	t.Cleanup(stop)
	p.says(t, `"msg":"listening"`)
	p.address = "http://" + listens.FindStringSubmatch(p.logs.String())[1]
	return p
}

// says waits for a line of its log.
func (p *posted) says(t *testing.T, what string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.logs.String(), what) }, patience, 20*time.Millisecond, "%s", p.logs)
}

// end stops it and returns its exit code.
func (p *posted) end(t *testing.T) int {
	t.Helper()
	began := time.Now()
	p.stop()
	code := <-p.ended
	require.Less(t, time.Since(began), 25*time.Second)
	return code
}

// take posts a message of chat 42 with this secret.
func (p *posted) take(t *testing.T, client *http.Client, secret string, update int) int {
	t.Helper()
	body := fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":%d,"chat":{"id":42,"type":"private"},"from":{"id":42},"text":"hello %d"}}`,
		update, update, time.Now().Unix(), update)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.address+"/telegram/webhook", strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	res, err := client.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

func echoed(t *testing.T, sim *telegramsim.Sim, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(sim.Ledger(42)) == n }, patience, 20*time.Millisecond)
}

func TestUpdatesArePostedToAnyProcessOverAHandOverAndBackToPolling(t *testing.T) {
	t.Parallel()
	sim, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = temporal(t)
	sim.SendText(42, "waits at Telegram")
	hook := maps.Clone(env)
	hook["DURABOT_INTAKE"], hook["DURABOT_WEBHOOK_URL"], hook["DURABOT_WEBHOOK_SECRET"] = "webhook", "https://127.0.0.1:1/SECRET-path", "SECRET-new,SECRET-old"
	client := &http.Client{Transport: &http.Transport{}}

	a := serving(t, hook)
	a.says(t, `"msg":"the webhook is set","host":"127.0.0.1:1"`)
	b := serving(t, hook)
	require.Equal(t, http.StatusForbidden, a.take(t, client, "wrong", 1001))
	require.Equal(t, http.StatusOK, a.take(t, client, "SECRET-new", 1001))
	echoed(t, sim, 1)
	require.Eventually(t, func() bool { return b.take(t, client, "SECRET-old", 1002) == http.StatusOK }, patience, 100*time.Millisecond, "passed on")
	echoed(t, sim, 2)
	d, _ := examine(t, hook)
	require.Contains(t, []string{"ok", "warning"}, d.levels()["webhook"])
	c := run(t.Context(), env, "run", "--http", "")
	require.Equal(t, 1, c.code, "polling cannot work")
	require.NotContains(t, c.errout, "SECRET")

	require.Zero(t, a.end(t), "%s", a.logs)
	require.Eventually(t, func() bool { return b.take(t, client, "SECRET-new", 1003) == http.StatusOK }, patience, 100*time.Millisecond, "the next on duty")
	echoed(t, sim, 3)
	require.Zero(t, b.end(t), "the client's idle connection holds nothing: %s", b.logs)

	p := serving(t, env, "--take-over")
	p.says(t, `"msg":"the webhook is removed, to poll: what waits is kept","host":"127.0.0.1:1"`)
	echoed(t, sim, 4)
	require.Zero(t, p.end(t), "%s", p.logs)
	for _, logs := range []*safeBuffer{a.logs, b.logs, p.logs} {
		require.NotContains(t, logs.String(), "SECRET")
	}
}

// hookInfo is a Telegram that answers getWebhookInfo with this.
func hookInfo(t *testing.T, info map[string]any) map[string]string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getMe") {
			fmt.Fprint(w, `{"ok":true,"result":{"id":123456789,"username":"some_bot"}}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": info})
	}))
	t.Cleanup(server.Close)
	return map[string]string{"TELEGRAM_API_URL": server.URL, "TELEGRAM_BOT_TOKEN": someToken, "TEMPORAL_ADDRESS": "127.0.0.1:1"}
}

var lastError = regexp.MustCompile(`last error \S+ ago`)

func TestDoctorJudgesTheWebhookOfABotThatIsPostedTo(t *testing.T) {
	t.Parallel()
	const ours = "https://bot.example.org/SECRET"
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		info  map[string]any
		level string
		found string
	}{
		"none":            {map[string]any{"url": "", "pending_update_count": 3}, "problem", "none; 3 updates wait"},
		"another":         {map[string]any{"url": "https://other.example.com/SECRET"}, "problem", "one is set at other.example.com; 0 updates wait; it is not that of --webhook-url, at bot.example.org"},
		"ours":            {map[string]any{"url": ours, "max_connections": 40}, "ok", "one is set at bot.example.org; 0 updates wait; 40 connections at most"},
		"of another form": {map[string]any{"url": "https://bot.example.org:443/SECRET", "allowed_updates": []string{}}, "ok", "one is set at bot.example.org:443; 0 updates wait"},
		"failing": {
			map[string]any{"url": ours, "pending_update_count": 2, "last_error_date": now - 60, "last_error_message": "Read timeout expired"},
			"problem",
			"one is set at bot.example.org; 2 updates wait; last error some time ago: Read timeout expired",
		},
		"failed long ago": {
			map[string]any{"url": ours, "pending_update_count": 2, "last_error_date": now - 7200, "last_error_message": "Connection refused"},
			"ok",
			"one is set at bot.example.org; 2 updates wait; last error some time ago: Connection refused",
		},
		"failed, nothing waits": {
			map[string]any{"url": ours, "last_error_date": now - 60, "last_error_message": "Connection refused"},
			"ok",
			"one is set at bot.example.org; 0 updates wait; last error some time ago: Connection refused",
		},
		"few connections": {map[string]any{"url": ours, "max_connections": 1}, "warning", "one is set at bot.example.org; 0 updates wait; 1 connections at most; --webhook-connections is 40"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, console := examine(t, hookInfo(t, c.info), "--intake", "webhook", "--webhook-url", ours)
			require.Equal(t, c.level, d.levels()["webhook"])
			for _, check := range d.Checks {
				if check.Name == "webhook" {
					require.Equal(t, c.found, lastError.ReplaceAllString(check.Found, "last error some time ago"))
					require.Equal(t, c.level == "ok", check.Do == "")
				}
			}
			require.NotContains(t, console.out+console.errout, "SECRET")
		})
	}
}

func TestDoctorComparesTheKindsOfUpdates(t *testing.T) {
	t.Parallel()
	env := hookInfo(t, map[string]any{"url": "https://bot.example.org", "allowed_updates": []string{"message", "poll"}})
	for allowed, want := range map[string]string{
		"message,poll": "0 updates wait", "message": "it delivers poll as well", "message,poll,chat_member": "it does not deliver chat_member",
		"message,callback_query": "it does not deliver callback_query; it delivers poll as well",
	} {
		c := run(t.Context(), env, "doctor", "--intake", "webhook", "--allowed-updates", allowed)
		require.Regexp(t, `(?m)^(ok|warning) +webhook .*`+want+`$`, c.out)
	}
}

func TestTheSecretOfAWebhookIsShownNowhere(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TELEGRAM_BOT_TOKEN": someToken, "DURABOT_WEBHOOK_SECRET": "HIDDEN-hook", "DURABOT_WEBHOOK_URL": "https://bot.example.org/HIDDEN-path"}
	for _, args := range [][]string{{"run", "--help"}, {"dev", "--help"}, {"doctor", "--help"}, {"run", "--webhook-secret", "HIDDEN-hook", "--help"}} {
		c := run(t.Context(), env, args...)
		require.Zero(t, c.code)
		require.NotContains(t, c.out+c.errout, "HIDDEN")
	}
}

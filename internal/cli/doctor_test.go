package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/durabot/durabot/internal/telegramsim"
)

// diagnosis is the JSON that scripts rely on.
type diagnosis struct {
	OK     bool `json:"ok"`
	Checks []struct {
		Name, Level, Found, Do string
	} `json:"checks"`
}

func examine(t *testing.T, env map[string]string, args ...string) (diagnosis, console) {
	t.Helper()
	c := run(t.Context(), env, append([]string{"doctor", "-o", "json"}, args...)...)
	var d diagnosis
	require.NoError(t, json.Unmarshal([]byte(c.out), &d), c.errout)
	return d, c
}

// levels are the levels by name.
func (d diagnosis) levels() map[string]string {
	all := map[string]string{}
	for _, c := range d.Checks {
		all[c.Name] = c.Level
	}
	return all
}

// fakeTelegram is a simulator on a port of its own, and the environment for it.
func fakeTelegram(t *testing.T) (*telegramsim.Sim, map[string]string) {
	t.Helper()
	sim, err := telegramsim.New(telegramsim.Options{Token: newToken(), PlainWebhooks: true, WebhookTransport: silence{}})
	require.NoError(t, err)
	server := httptest.NewServer(sim.Handler())
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); _ = sim.Close() })
	return sim, map[string]string{"TELEGRAM_API_URL": server.URL, "TELEGRAM_BOT_TOKEN": sim.Token()}
}

// silence is a network on which a post has no answer.
type silence struct{}

func (silence) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestDoctorNamesOfChecksAreStable(t *testing.T) {
	t.Parallel()
	_, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = (&fakeTemporal{retention: 168 * time.Hour, attributes: registered()}).start(t)
	d, c := examine(t, env)
	require.Zero(t, c.code)
	require.True(t, d.OK)
	require.Empty(t, c.errout)
	var names []string
	for _, check := range d.Checks {
		names = append(names, check.Name)
	}
	require.Equal(t, []string{
		"token", "telegram", "webhook", "credentials", "temporal_cloud", "temporal", "namespace", "retention", "search_attributes", "workers", "duty", "queue", "stuck_workflows", "stuck_updates",
		"failed_updates", "dead_letters", "heartbeat_url", "limits",
	}, names)
	away, _ := examine(t, map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1"})
	require.Len(t, away.levels(), len(names), "what cannot be looked at is named all the same")
}

func TestDoctorNeverPolls(t *testing.T) {
	t.Parallel()
	sim, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = "127.0.0.1:1"
	sim.SendText(42, "waits for a running bot")
	d, _ := examine(t, env)
	require.Equal(t, "ok", d.levels()["webhook"])
	require.NotEmpty(t, sim.Requests())
	for _, r := range sim.Requests() {
		require.Contains(t, []string{"getMe", "getWebhookInfo"}, r.Method)
	}
}

func TestDoctorJudgesTheRetention(t *testing.T) {
	t.Parallel()
	for retention, level := range map[time.Duration]string{
		24 * time.Hour: "problem", 47 * time.Hour: "problem", 48 * time.Hour: "warning", 71 * time.Hour: "warning", 72 * time.Hour: "ok",
	} {
		env := map[string]string{"TEMPORAL_ADDRESS": (&fakeTemporal{retention: retention, attributes: registered()}).start(t)}
		d, c := examine(t, env, "--bot", "7")
		require.Equal(t, level, d.levels()["retention"], retention)
		require.Equal(t, level != "problem", d.OK)
		require.Equal(t, level == "problem", c.code == 1)
	}
}

func TestDoctorTellsAServerThatRefusesFromOneThatIsAway(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.PermissionDenied, codes.Unauthenticated} {
		env := map[string]string{"TEMPORAL_ADDRESS": (&fakeTemporal{refusal: status.Error(code, "no")}).start(t)}
		d, c := examine(t, env, "--bot", "7")
		require.Equal(t, 1, c.code)
		require.Equal(t, "ok", d.levels()["temporal"], code)
		require.Equal(t, "problem", d.levels()["namespace"], code)
		require.Equal(t, "skipped", d.levels()["workers"], code)
	}
}

func TestDoctorWithTwoBotsSaysSo(t *testing.T) {
	t.Parallel()
	_, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = "127.0.0.1:1"
	d, _ := examine(t, env, "--bot", "7")
	require.Equal(t, "warning", d.levels()["token"])
}

func TestDoctorNeverShowsTheToken(t *testing.T) {
	t.Parallel()
	sim, env := fakeTelegram(t)
	env["TEMPORAL_ADDRESS"] = "127.0.0.1:1"
	for _, fault := range []telegramsim.Fault{
		{Method: "getMe", Kind: telegramsim.FaultGarbage, Body: "<p>" + sim.Token() + "</p>", Times: 1},
		{Method: "getWebhookInfo", Kind: telegramsim.FaultStatus, Status: 500, Body: sim.Token(), Times: 1},
		{Method: "getMe", Kind: telegramsim.FaultReset, Times: 1},
	} {
		sim.Fault(fault)
		_, c := examine(t, env)
		require.NotContains(t, c.out+c.errout, sim.Token()[len("900000000:"):])
	}
}

func TestDoctorTellsOfAWebhookItsHostOnly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getMe") {
			fmt.Fprint(w, `{"ok":true,"result":{"id":123456789,"username":"some_bot"}}`)
			return
		}
		fmt.Fprintf(w, `{"ok":true,"result":{"url":"https://example.org/SECRET","pending_update_count":3,"last_error_date":%d,"last_error_message":"Connection timed out"}}`,
			time.Now().Add(-2*time.Hour).Unix())
	}))
	defer server.Close()
	env := map[string]string{"TELEGRAM_API_URL": server.URL, "TELEGRAM_BOT_TOKEN": someToken, "TEMPORAL_ADDRESS": "127.0.0.1:1"}
	c := run(t.Context(), env, "doctor")
	require.Regexp(t, `(?m)^problem  webhook +one is set at example.org; 3 updates wait; last error 2h\S* ago: Connection timed out$`, c.out)
	require.NotContains(t, c.out, "SECRET")
	d, _ := examine(t, env, "--intake", "none")
	require.Equal(t, "warning", d.levels()["webhook"])
}

func TestDoctorWithoutTelegramSaysWhatItKnowsOfTheToken(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TELEGRAM_API_URL": "http://127.0.0.1:1", "TELEGRAM_BOT_TOKEN": someToken, "TEMPORAL_ADDRESS": "127.0.0.1:1"}
	d, c := examine(t, env)
	require.Equal(t, 1, c.code)
	require.Equal(t, "ok", d.levels()["token"])
	require.Equal(t, "problem", d.levels()["telegram"])
	require.Equal(t, "skipped", d.levels()["webhook"])

	env["TELEGRAM_API_URL"] = "https://api.telegram.org/bot" + someToken
	d, c = examine(t, env)
	require.Equal(t, "problem", d.levels()["telegram"])
	require.NotContains(t, c.out, "SECRET")
}

func TestDoctorComparesTheLimitsWithThePublishedOnes(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"ok       limits             30/s in all, 1/s a private chat, 20/min a group": {"--global-per-second", "30"},
		"warning  limits             --global-per-second is 30.5, Telegram says 30":   {"--global-per-second", "30.5"},
		"warning  limits             --chat-per-second is 2, Telegram says 1":         {"--chat-per-second", "2"},
		"warning  limits             --group-per-minute is off":                       {"--group-per-minute", "0"},
		"problem  limits             --global-per-second: want 0 (off) or more":       {"--global-per-second", "NaN"},
	} {
		c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1"}, append([]string{"doctor"}, args...)...)
		require.Contains(t, c.out, want)
	}
}

func TestDoctorJudgesTheSearchAttributes(t *testing.T) {
	t.Parallel()
	f := &fakeTemporal{retention: 168 * time.Hour, attributes: registered()}
	delete(f.attributes, "TgKind")
	env := map[string]string{"TEMPORAL_ADDRESS": f.start(t)}
	d, c := examine(t, env, "--bot", "7")
	require.True(t, d.OK, "all works without")
	require.Contains(t, c.out, "not registered: TgKind;")
	f.attributes["TgChat"] = enumspb.INDEXED_VALUE_TYPE_INT
	d, c = examine(t, env, "--bot", "7")
	require.Equal(t, "problem", d.levels()["search_attributes"], "a start that names it would be refused")
	require.Contains(t, c.out, "search attribute TgChat is of type Int, want Keyword")
	d, _ = examine(t, map[string]string{"TEMPORAL_ADDRESS": env["TEMPORAL_ADDRESS"]})
	require.Equal(t, "skipped", d.levels()["workers"], "nobody said which bot")
}

package cli_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
)

// keyUntil is an API key that ends then.
func keyUntil(t time.Time) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, t.Unix())) + ".sig"
}

// settings are what doctor finds in variables before it asks anything.
func settings(vars map[string]string, perSecond float64) map[string][2]string {
	return cli.SettingFindings(func(name string) (string, bool) { v, ok := vars[name]; return v, ok }, perSecond)
}

func TestDoctorTellsBeforeCredentialsEnd(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for left, want := range map[time.Duration]string{-time.Minute: "problem", 13 * day: "warning", 15 * day: "ok"} {
		key := keyUntil(time.Now().Add(left))
		found := settings(map[string]string{"TEMPORAL_API_KEY": key}, 28)["credentials"]
		require.Equal(t, want, found[0], left)
		require.NotContains(t, found[1], key)
	}
	require.Equal(t, "ok", settings(map[string]string{"TEMPORAL_API_KEY": "key"}, 28)["credentials"][0], "it does not say when it ends")
	require.Equal(t, "skipped", settings(map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": "/none"}, 28)["credentials"][0])
}

func TestDoctorKnowsWhatTemporalCloudWants(t *testing.T) {
	t.Parallel()
	key := keyUntil(time.Now().Add(90 * 24 * time.Hour))
	for name, c := range map[string]struct {
		address, namespace, key string
		pace                    float64
		level, found            string
	}{
		"another server":        {"127.0.0.1:1", "default", "", 28, "ok", "not used"},
		"one that looks alike":  {"tmprl.cloud.example.org:7233", "default", "", 28, "ok", "not used"},
		"nothing to show":       {"bots.a1b2c.tmprl.cloud:7233", "bots.a1b2c", "", 28, "problem", "no credentials"},
		"a name without suffix": {"eu-west-1.aws.api.temporal.io:7233", "bots", key, 28, "problem", `want NAME.ACCOUNT, got "bots"`},
		"all well":              {"bots.a1b2c.tmprl.cloud:7233", "bots.a1b2c", key, 28, "ok", "28 replies a second need about"},
		"too fast":              {"bots.a1b2c.tmprl.cloud:7233", "bots.a1b2c", key, 1000, "warning", "a namespace begins with 500"},
		"as fast as it can":     {"bots.a1b2c.tmprl.cloud:7233", "bots.a1b2c", key, 0, "warning", "--global-per-second is off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vars := map[string]string{"TEMPORAL_ADDRESS": c.address, "TEMPORAL_NAMESPACE": c.namespace}
			if c.key != "" {
				vars["TEMPORAL_API_KEY"] = c.key
			}
			found := settings(vars, c.pace)["temporal_cloud"]
			require.Equal(t, c.level, found[0])
			require.Contains(t, found[1], c.found)
		})
	}
}

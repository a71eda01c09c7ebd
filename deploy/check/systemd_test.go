package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unit is the systemd unit: its settings by name, those that are given several
// times in order.
func unit(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deploy, "systemd", "durabot.service"))
	require.NoError(t, err)
	return settings(t, string(text))
}

// settings reads NAME=VALUE lines between comments and section headers.
func settings(t *testing.T, text string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		require.True(t, ok, line)
		all[name] = append(all[name], value)
	}
	return all
}

// systemdUses is the durabot of the unit.
func systemdUses(t *testing.T) []use {
	t.Helper()
	u := unit(t)
	const credentials = "/run/credentials/durabot.service"
	grace, err := time.ParseDuration(u["TimeoutStopSec"][0] + "s")
	require.NoError(t, err)
	found := use{
		where: "durabot.service", args: strings.Fields(u["ExecStart"][0])[1:], grace: grace,
		env: map[string]string{}, files: map[string]string{}, paths: []string{"/healthz"},
	}
	for _, pair := range u["Environment"] {
		name, value, _ := strings.Cut(pair, "=")
		found.env[name] = strings.ReplaceAll(value, "%d", credentials)
	}
	for _, file := range u["EnvironmentFile"] {
		text, err := os.ReadFile(filepath.Join(deploy, "systemd", filepath.Base(file)))
		require.NoError(t, err)
		for name, values := range settings(t, string(text)) {
			found.env[name] = values[0]
		}
	}
	for _, credential := range u["LoadCredential"] {
		id, from, _ := strings.Cut(credential, ":")
		found.files[credentials+"/"+id] = secretFiles[filepath.Base(from)]
	}
	return []use{found}
}

func TestTheUnitComesBackAndTakesItsTokenFromSystemd(t *testing.T) {
	t.Parallel()
	u := unit(t)
	require.Equal(t, []string{"always"}, u["Restart"])
	require.Equal(t, []string{"0"}, u["StartLimitIntervalSec"], "it is tried again for ever")
	require.Equal(t, []string{"yes"}, u["DynamicUser"])
	require.Equal(t, []string{"bot-token:/etc/durabot/bot-token"}, u["LoadCredential"])
	require.Contains(t, u["Environment"], "TELEGRAM_BOT_TOKEN_FILE=%d/bot-token")
}

// systemd itself reads the unit. Where it is not installed the settings above are
// all that is looked at.
func TestSystemdTakesTheUnitAndFindsLittleToHarden(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze on this machine")
	}
	text, err := os.ReadFile(filepath.Join(deploy, "systemd", "durabot.service"))
	require.NoError(t, err)
	self, err := os.Executable() // stands in for a program that is not installed here
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "durabot.service")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "/usr/local/bin/durabot ", self+" ", 1)), 0o600))
	for _, args := range [][]string{
		words("verify --man=no %s", path),
		words("security --offline=yes --threshold=20 --no-pager %s", path), // in tenths: 2.0 is "OK"
	} {
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
		require.NoError(t, err, string(out))
		require.NotContains(t, string(out), "Unknown", string(out))
	}
}

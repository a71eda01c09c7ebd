package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutVariablesTemporalIsTheLocalOne(t *testing.T) {
	t.Parallel()
	o, err := env(map[string]string{"TEMPORAL_CONFIG_FILE": filepath.Join(t.TempDir(), "none.toml")}).Temporal()
	require.NoError(t, err)
	require.Equal(t, "localhost:7233", o.HostPort)
	require.Equal(t, "default", o.Namespace)
}

func TestTemporalsOwnVariablesAreRead(t *testing.T) {
	t.Parallel()
	o, err := env(map[string]string{
		"TEMPORAL_CONFIG_FILE": filepath.Join(t.TempDir(), "none.toml"),
		"TEMPORAL_ADDRESS":     "temporal.example:7233", "TEMPORAL_NAMESPACE": "bots", "TEMPORAL_API_KEY": "key",
	}).Temporal()
	require.NoError(t, err)
	require.Equal(t, "temporal.example:7233", o.HostPort)
	require.Equal(t, "bots", o.Namespace)
	require.NotNil(t, o.Credentials)
}

func TestTemporalsProfilesAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(path, []byte("[profile.prod]\naddress = \"prod.example:7233\"\nnamespace = \"prod\"\n"), 0o600))
	o, err := env(map[string]string{"TEMPORAL_CONFIG_FILE": path, "TEMPORAL_PROFILE": "prod"}).Temporal()
	require.NoError(t, err)
	require.Equal(t, "prod.example:7233", o.HostPort)
	require.Equal(t, "prod", o.Namespace)
}

func TestAWrongTemporalSettingIsAnErrorThatSaysWhose(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "temporal.toml")
	require.NoError(t, os.WriteFile(path, []byte("[profile"), 0o600))
	for _, vars := range []map[string]string{
		{"TEMPORAL_CONFIG_FILE": path},
		{"TEMPORAL_CONFIG_FILE": path + ".none", "TEMPORAL_PROFILE": "prod"},
		{"TEMPORAL_CONFIG_FILE": path + ".none", "TEMPORAL_TLS_CLIENT_CERT_PATH": "/does/not/exist"},
	} {
		_, err := env(vars).Temporal()
		require.ErrorContains(t, err, "TEMPORAL_… settings: ")
	}
}

package cli_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// freePort is a port that was free a moment ago, as the port above it by 1000 was.
func freePort(t *testing.T) int {
	t.Helper()
	for range 50 {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if port > 64000 {
			continue
		}
		ui, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1000)))
		if err == nil {
			require.NoError(t, ui.Close())
			return port
		}
	}
	require.FailNow(t, "no free port")
	return 0
}

// installed is this binary under the program's name.
func installed(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), program)
	require.NoError(t, os.Symlink(self, path))
	return path
}

// dev finds Temporal by its environment and its directory, so it is the one verb
// that is tested as a process of its own.
func TestDevBringsEverythingUpAndDown(t *testing.T) {
	t.Parallel()
	path, err := temporalPath()
	require.NoError(t, err)
	if path == "" {
		t.Skip("no temporal binary: `make server` builds one")
	}
	var out safeBuffer
	cmd := exec.Command(installed(t), "dev", "--http", "127.0.0.1:0", "--sim", "127.0.0.1:0", "--temporal-port", strconv.Itoa(freePort(t)))
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &out
	cmd.Env = append(os.Environ(), "TEMPORAL_CLI_PATH="+path, "TELEGRAM_BOT_TOKEN="+someToken)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	require.Eventually(t, func() bool { return strings.Contains(out.String(), "bot is running") }, patience, 50*time.Millisecond)
	chat := line(out.String(), "Chat page")
	post(t, chat+"/sim/api/chats", `{"id":"42","type":"private","name":"A person"}`)
	post(t, chat+"/sim/api/chats/42/send", `{"text":"hello"}`)
	require.Eventually(t, func() bool { return answers(t, chat) > 0 }, patience, 50*time.Millisecond)
	require.NotContains(t, out.String(), "SECRET", "a real token is not used by mistake")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, <-ended, out.String())
	for _, kept := range []string{"temporal.db", "temporal.log", "telegram.json"} {
		require.FileExists(t, filepath.Join(cmd.Dir, ".dev", kept))
	}
}

// line is what stands behind a label of dev's greeting.
func line(text, label string) string {
	_, rest, _ := strings.Cut(text, label)
	return strings.Fields(rest + " -")[0]
}

func post(t *testing.T, url, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode, url)
}

// answers counts what the bot said in chat 42.
func answers(t *testing.T, chat string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, chat+"/sim/api/ledger?chat_id=42", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var ledger struct{ Messages []any }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&ledger))
	return len(ledger.Messages)
}

func TestDevNamesThePortThatIsTaken(t *testing.T) {
	t.Parallel()
	path, err := temporalPath()
	require.NoError(t, err)
	if path == "" {
		t.Skip("no temporal binary: `make server` builds one")
	}
	port := freePort(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	require.NoError(t, err)
	defer taken.Close()
	cmd := exec.Command(installed(t), "dev", "--http", "127.0.0.1:0", "--sim", "127.0.0.1:0", "--temporal-port", strconv.Itoa(port))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "TEMPORAL_CLI_PATH="+path)
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	require.Contains(t, string(out), strconv.Itoa(port))
	require.Equal(t, 1, strings.Count(string(out), "\n"), string(out))
}

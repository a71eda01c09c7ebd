package devserver

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// takenPort listens for the length of the test.
func takenPort(t *testing.T) int {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func TestMissingOptionsAreNamed(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{})
	require.ErrorContains(t, err, "Path is missing")
	_, err = Start(t.Context(), Options{Path: "temporal"})
	require.ErrorContains(t, err, "LogFile is missing")
}

func TestTakenPortIsNamedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	port := takenPort(t)
	for name, options := range map[string]Options{
		"server": {Port: port},
		"UI":     {UIPort: port},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options.Path = link(t, t.TempDir(), "temporal-broken")
			options.LogFile = filepath.Join(t.TempDir(), "server.log")
			_, err := Start(t.Context(), options)
			require.ErrorIs(t, err, ErrPortInUse)
			require.ErrorContains(t, err, "127.0.0.1:"+strconv.Itoa(port)+" for the Temporal "+name)
			require.ErrorContains(t, err, "--temporal-port")
			require.NoFileExists(t, options.LogFile)
		})
	}
}

func TestForeignAddressIsNotMistakenForATakenPort(t *testing.T) {
	t.Parallel()
	_, err := Options{IP: "192.0.2.1", Port: 7233}.claimPorts(t.Context())
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrPortInUse)
}

func TestFailedStartQuotesTheLastLineOfTheLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Start(t.Context(), Options{
		Path:    link(t, t.TempDir(), "temporal-broken"),
		LogFile: filepath.Join(dir, "server.log"),
	})
	require.ErrorIs(t, err, ErrExited)
	require.ErrorContains(t, err, `exit status 1: level=ERROR msg="no such file or directory"`)
	require.NotContains(t, err.Error(), "reading the database")
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "what people wrote is the owner's alone")
}

func TestStartThatRunsOutOfTimeLeavesNoProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	path := link(t, t.TempDir(), "temporal-deaf")
	_, err := Start(ctx, Options{
		Path:    path,
		LogFile: filepath.Join(t.TempDir(), "server.log"),
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "connect: ")
	require.ErrorContains(t, err, ": ready", "the last line of its log")
	require.False(t, running(t, path))
}

// running says whether a process was started as path; it knows only on Linux.
func running(t *testing.T, path string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, line := range lines {
		if text, err := os.ReadFile(line); err == nil && strings.HasPrefix(string(text), path) {
			return true
		}
	}
	return false
}

func TestProgramThatCannotRunIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{
		Path:    filepath.Join(t.TempDir(), "missing"),
		LogFile: filepath.Join(t.TempDir(), "server.log"),
	})
	require.ErrorContains(t, err, "start the Temporal dev server: fork/exec")
}

package check_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long something may take that should be there at once.
const patience = 30 * time.Second

// jail is a root directory in which programs run as another user and can change
// nothing.
type jail struct {
	root, user string
	env        []string
}

// command runs a program of the jail. A machine that lets nobody make a jail, or
// a person who is not root, gets what is left: an environment of its own.
func (j jail) command(ctx context.Context, t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("not root: the program runs as this user, and sees this machine's files")
		inside := func(of []string) (all []string) {
			for _, text := range of {
				all = append(all, strings.ReplaceAll(text, "/run/", j.root+"/run/"))
			}
			return all
		}
		cmd := exec.CommandContext(ctx, filepath.Join(j.root, args[0]), inside(args[1:])...)
		cmd.Env = inside(j.env)
		return cmd
	}
	const enter = `mount --bind "$1" "$1" && mount -o remount,bind,ro,nosuid "$1" && cd "$1" && u=$2 && shift 2 && exec chroot --userspec="$u" . "$@"`
	cmd := exec.CommandContext(ctx, "unshare", append([]string{"--mount", "sh", "-c", enter, "sh", j.root, j.user}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, j.env...)
	return cmd
}

// bot is a durabot that runs in a jail.
type bot struct {
	cmd     *exec.Cmd
	ended   chan error
	output  *lockedBuffer
	address string
}

var listening = regexp.MustCompile(`"listening","address":"([^"]+)"`)

// start runs the program until the test is over, and returns once it listens.
func (j jail) start(t *testing.T, args ...string) *bot {
	t.Helper()
	b := &bot{cmd: j.command(context.WithoutCancel(t.Context()), t, args...), ended: make(chan error, 1), output: &lockedBuffer{}}
	b.cmd.Stdout, b.cmd.Stderr = b.output, b.output
	require.NoError(t, b.cmd.Start())
	go func() { b.ended <- b.cmd.Wait() }()
	t.Cleanup(func() { _ = b.cmd.Process.Kill() })
	for deadline := time.Now().Add(patience); b.address == ""; {
		select {
		case err := <-b.ended:
			require.Fail(t, "it ended", "%v: %v\n%s", args, err, b.output.String())
		case <-time.After(20 * time.Millisecond):
			require.Less(t, time.Now(), deadline, b.output.String())
		}
		if found := listening.FindStringSubmatch(b.output.String()); found != nil {
			b.address = found[1]
		}
	}
	return b
}

// stop ends it as an engine does, and returns how long that took.
func (b *bot) stop(t *testing.T, within time.Duration) {
	t.Helper()
	require.NoError(t, b.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-b.ended:
		require.NoError(t, err, b.output.String())
	case <-time.After(within):
		require.Fail(t, "it did not stop", "within %v: %s", within, b.output.String())
	}
}

// serves reports the status of a path of the bot's HTTP server.
func (b *bot) serves(t *testing.T, method, path string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.address+path, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// put lays a file where the jail's user can read it.
func (j jail) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(j.root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// lockedBuffer takes a program's output while it is looked at.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps what is written.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what has been written.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// words are the arguments of a command line without quotes.
func words(format string, args ...any) []string { return strings.Fields(fmt.Sprintf(format, args...)) }

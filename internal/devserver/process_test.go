package devserver

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const patience = 20 * time.Second

// start runs name, one of the programs in TestMain, and returns once it is up,
// with the reading end of its output.
func start(t *testing.T, name string, run func(*exec.Cmd)) *os.File {
	t.Helper()
	dir := t.TempDir()
	link(t, dir, "temporal-deaf")
	if name != "temporal-deaf" {
		link(t, dir, name)
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	cmd := exec.Command(dir + "/" + name)
	cmd.Stdout = w
	run(cmd)
	require.NoError(t, w.Close())
	require.NoError(t, r.SetReadDeadline(time.Now().Add(patience)))
	up := make([]byte, len("ready\n"))
	_, err = io.ReadFull(r, up)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(up))
	return r
}

// adopt makes the program the server's child for the length of the test.
func (s *Server) adopt(t *testing.T) func(*exec.Cmd) {
	t.Helper()
	return func(cmd *exec.Cmd) {
		var err error
		s.child, err = startProcess(cmd)
		require.NoError(t, err)
		t.Cleanup(s.child.kill)
	}
}

func TestServerDiesWithAKilledParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties a child's life to its parent's")
	}
	var killed *exec.Cmd
	output := start(t, "parent", func(cmd *exec.Cmd) {
		killed = cmd
		require.NoError(t, cmd.Start())
	})
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()

	_, err := io.ReadAll(output)
	require.NoError(t, err, "the output ends only when the child is gone too")
}

func TestServerOutlivesTheGoroutineThatStartedIt(t *testing.T) {
	t.Parallel()
	var p *process
	output := start(t, "temporal-deaf", func(cmd *exec.Cmd) {
		done := make(chan error)
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
			var err error
			p, err = startProcess(cmd)
			done <- err
		}()
		require.NoError(t, <-done)
	})
	require.NoError(t, output.SetReadDeadline(time.Now().Add(300*time.Millisecond)))
	_, err := output.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "still running")
	p.kill()
	require.False(t, p.alone)
}

func TestServerThatIgnoresTheSignalIsKilled(t *testing.T) {
	t.Parallel()
	var p *process
	start(t, "temporal-deaf", func(cmd *exec.Cmd) {
		var err error
		p, err = startProcess(cmd)
		require.NoError(t, err)
	})
	p.stop(50 * time.Millisecond)
	require.Contains(t, p.cmd.ProcessState.String(), "killed")
	p.stop(time.Hour)
	require.False(t, p.alone, "its end was asked for")
}

func TestProgramThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	_, err := startProcess(exec.Command(t.TempDir() + "/missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

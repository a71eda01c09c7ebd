//go:build unix

package devserver

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInterruptOnTheTerminalDoesNotReachTheServer(t *testing.T) {
	t.Parallel()
	start(t, "temporal-deaf", func(cmd *exec.Cmd) {
		p, err := startProcess(cmd)
		require.NoError(t, err)
		t.Cleanup(p.kill)
		group, err := syscall.Getpgid(cmd.Process.Pid)
		require.NoError(t, err)
		require.Equal(t, cmd.Process.Pid, group, "a terminal signals its foreground group, which is ours")
	})
}

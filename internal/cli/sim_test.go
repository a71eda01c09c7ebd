package cli_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/cli"
)

func TestSimServesUntilItIsAskedToStopAndKeepsItsState(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "telegram.json")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out safeBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Program{
			Handler: durabot.Echo, Args: []string{"sim", "--addr", "127.0.0.1:0", "--state", state}, Stdout: &out, Stderr: &out,
			Env: func(string) (string, bool) { return "", false },
		}.Run(ctx)
	}()
	require.Eventually(t, func() bool { return strings.Contains(out.String(), "TELEGRAM_BOT_TOKEN=") }, patience, 10*time.Millisecond)
	post(t, line(out.String(), "Chat page")+"/sim/api/chats", `{"id":"42","type":"private","name":"A person"}`)
	stop()
	require.Zero(t, <-ended, out.String())
	require.FileExists(t, state)
}

func TestSimNamesTheAddressThatIsTaken(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	c := run(t.Context(), nil, "sim", "--addr", taken.Addr().String())
	require.Equal(t, 1, c.code)
	require.Contains(t, c.errout, taken.Addr().String())
	require.Contains(t, c.errout, "choose another one")
}

package devtest

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/devserver"
)

// Connect starts a server and returns a client of it with these options, silent
// unless they have a logger. Both end with the test. Root is the way from the test's
// directory to that of the repository. The test is skipped where there is no
// server: building one takes minutes.
func Connect(t testing.TB, root string, o client.Options) client.Client {
	t.Helper()
	path, err := devserver.Locate(devserver.FindOptions{Dir: root})
	if err != nil {
		t.Skipf("needs a Temporal dev server (make bin/temporal): %v", err)
	}
	server, err := devserver.Start(t.Context(), devserver.Options{Path: path, LogFile: filepath.Join(t.TempDir(), "temporal.log")})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	o.HostPort = server.Addr()
	if o.Logger == nil {
		o.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	}
	c, err := client.DialContext(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

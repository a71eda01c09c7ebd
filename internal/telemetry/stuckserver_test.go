package telemetry_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telemetry"
)

// TestAWorkflowThatPanicsIsHeardOf is the only test that would notice an SDK that
// names its metrics in another way.
func TestAWorkflowThatPanicsIsHeardOf(t *testing.T) {
	t.Parallel()
	path, err := devserver.Locate(devserver.FindOptions{Dir: filepath.Join("..", "..")})
	if err != nil {
		t.Skipf("needs a Temporal dev server (make bin/temporal): %v", err)
	}
	server, err := devserver.Start(t.Context(), devserver.Options{Path: path, LogFile: filepath.Join(t.TempDir(), "temporal.log")})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	h := well()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: server.Addr(), Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		MetricsHandler: telemetry.Stuck(client.MetricsNopHandler, h),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	w := worker.New(c, "stuck", worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { panic("out of date") }, workflow.RegisterOptions{Name: "Panics"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err = c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "stuck"}, "Panics")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, text := h.Ready()
		return strings.Contains(text, "workflows: a workflow task failed: ")
	}, 20*time.Second, 10*time.Millisecond)
}

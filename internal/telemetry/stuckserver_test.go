package telemetry_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/devserver/devtest"
	"github.com/durabot/durabot/internal/telemetry"
)

// TestAWorkflowThatPanicsIsHeardOf is the only test that would notice an SDK that
// names its metrics in another way.
func TestAWorkflowThatPanicsIsHeardOf(t *testing.T) {
	t.Parallel()
	h := well()
	c := devtest.Connect(t, filepath.Join("..", ".."), client.Options{MetricsHandler: telemetry.NewStuck(h).Metrics(client.MetricsNopHandler)})
	w := worker.New(c, "stuck", worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { panic("out of date") }, workflow.RegisterOptions{Name: "Panics"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "stuck"}, "Panics")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, text := h.Ready()
		return strings.Contains(text, "workflows: a workflow task failed: ")
	}, 20*time.Second, 10*time.Millisecond)
}

package telemetry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telemetry"
)

const taskFailed = "temporal_workflow_task_execution_failed"

// fail has a workflow task fail, as the SDK tells of it.
func fail(m client.MetricsHandler) {
	m.WithTags(map[string]string{"workflow_type": "UpdateWorkflow"}).WithTags(map[string]string{"failure_reason": "NonDeterminismError"}).
		Counter(taskFailed).Inc(1)
}

func degraded(h *telemetry.Health) bool {
	_, text := h.Ready()
	return text != "ready\n"
}

func TestAWorkflowTaskThatFailsDegradesForTwoMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := well()
		m := telemetry.NewStuck(h).Metrics(client.MetricsNopHandler)
		m.Counter("temporal_workflow_task_queue_poll_succeed").Inc(1)
		requireHealth(t, h, true, "ready\n")
		fail(m)
		ok, text := h.Ready()
		require.True(t, ok)
		require.Contains(t, text, "degraded\nworkflows: a workflow task failed: ")
		require.Contains(t, text, "roll back")
		<-time.After(2*time.Minute - time.Second)
		require.True(t, degraded(h))
		<-time.After(time.Second)
		requireHealth(t, h, true, "ready\n")
		<-time.After(time.Hour)
		fail(m)
		<-time.After(2 * time.Minute)
		requireHealth(t, h, true, "ready\n")
	})
}

// The server tries a task that failed after a time that doubles from ten seconds
// to ten minutes.
func TestAWorkflowThatIsStuckNeverLooksWellInBetween(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := well()
		m := telemetry.NewStuck(h).Metrics(client.MetricsNopHandler)
		for wait := 10 * time.Second; wait <= 90*time.Minute; wait *= 2 {
			fail(m)
			<-time.After(min(wait, 10*time.Minute) - time.Nanosecond)
			require.True(t, degraded(h), wait)
		}
		<-time.After(12 * time.Minute)
		require.False(t, degraded(h))
	})
}

func TestTheEarOnTheMetricsLosesNone(t *testing.T) {
	t.Parallel()
	metrics := newMetrics(t)
	m := telemetry.NewStuck(well()).Metrics(metrics.Temporal)
	fail(m)
	m.WithTags(map[string]string{"operation": "X"}).Counter("temporal_request").Inc(3)
	text := scrape(t, metrics)
	require.Regexp(t, `(?m)^`+taskFailed+`\w*\{failure_reason="NonDeterminismError",workflow_type="UpdateWorkflow"\} 1$`, text)
	require.Regexp(t, `(?m)^temporal_request\w*\{operation="X"\} 3$`, text)
}

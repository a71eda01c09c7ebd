package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/contract"
)

// A workflow that this build cannot go on with waits, and looks like any that
// waits. Only this test catches a bot that says that all is well with it.

func TestAStuckWorkflowIsToldWithinAMinuteAndHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	w.eventually("all is well", func() bool { return b.well() })
	began := time.Now()
	id := contract.UpdateID(w.bot, 1)
	_, err := w.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: contract.TaskQueue(w.bot)}, "OfALaterRelease")
	require.NoError(t, err)
	w.eventually("health says so", func() bool {
		_, text := b.get("/readyz")
		return strings.Contains(text, "workflows: a workflow task failed")
	})
	w.eventually("doctor names it", func() bool {
		out, code := w.durabot("doctor")
		return code == 1 && strings.Contains(out, "stuck_workflows") && strings.Contains(out, id+" (attempt ")
	})
	require.Less(t, time.Since(began), time.Minute)
	require.True(t, b.degraded(), "it goes on with all others")
	w.SendText(1001, "hello")
	w.eventually("they are answered", func() bool { return len(w.Ledger(1001)) == 1 })
	require.NoError(t, w.temporal.TerminateWorkflow(t.Context(), id, "", "seen"))
}

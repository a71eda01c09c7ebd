package telemetry_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/telemetry"
)

func TestATaskThatFailsBecauseTemporalIsAwayIsNoFaultOfTheCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err   error
		fault bool
	}{
		{errors.New("error sending workflow task heartbeat context deadline exceeded"), false},
		{serviceerror.NewUnavailable("connection refused"), false},
		{errors.New("lookup failed for scheduledEventID to activityID"), true},
	} {
		h := well()
		stuck := telemetry.NewStuck(h)
		log := sdklog.With(sdklog.NewStructuredLogger(stuck.Log(slog.New(slog.DiscardHandler))), "WorkerID", "x")
		m := stuck.Metrics(client.MetricsNopHandler)
		log.Warn("Failed to process workflow task.", "WorkflowID", "update/7/1", "Error", c.err)
		fail(m)
		require.Equal(t, c.fault, degraded(h), c.err)
		fail(m) // of another workflow
		require.True(t, degraded(h), c.err)
	}
}

func TestTheEarOnTheLogLosesNothing(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := telemetry.NewStuck(well()).Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelError})))
	log = log.With("a", 1).WithGroup("g")
	log.Error("Failed to process workflow task.", "error", "a text")
	log.Warn("nobody wants this line")
	require.Contains(t, out.String(), `msg="Failed to process workflow task." a=1 g.error="a text"`)
	require.NotContains(t, out.String(), "nobody")
}

package telemetry_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/telemetry"
)

func TestAQuietLoggerDropsWhatIsBelowAWarning(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "json")
	q := telemetry.Quiet(log)
	q.DebugContext(t.Context(), "d")
	q.InfoContext(t.Context(), "i")
	q.WarnContext(t.Context(), "w")
	q.ErrorContext(t.Context(), "e")
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), `"msg":"w"`)
	require.Contains(t, out.String(), `"msg":"e"`)
}

func TestAQuietLoggerHidesNothingFromWhoDebugs(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "debug", "json")
	q := telemetry.Quiet(log)
	q.DebugContext(t.Context(), "d")
	q.InfoContext(t.Context(), "i")
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
}

func TestAQuietLoggerKeepsTheLevelOfItsOwner(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "error", "json")
	telemetry.Quiet(log).WarnContext(t.Context(), "w")
	require.Empty(t, out.String())
}

func TestAQuietLoggerKnowsAMessageByItsCode(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "json")
	q := sdklog.NewStructuredLogger(telemetry.Quiet(log))
	for _, run := range []string{"a:4:1", "b:4:1"} {
		q.Warn("[TMPRL1104] " + run + " Workflow task duration exceeded 5 seconds.")
	}
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
}

func TestAQuietLoggerSaysTheSameOnceInTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, out := logger(t, "info", "json")
		q := telemetry.Quiet(log)
		said := func(text string) int { return strings.Count(out.String(), `"`+text+`"`) }
		for range 100 { // 9.9 s
			q.WarnContext(t.Context(), "gone")
			<-time.After(99 * time.Millisecond)
		}
		require.Equal(t, 1, said("gone"))
		q.WarnContext(t.Context(), "other")
		require.Equal(t, 1, said("other"), "another message is another matter")
		<-time.After(100 * time.Millisecond)
		q.WarnContext(t.Context(), "gone")
		require.Equal(t, 2, said("gone"))
	})
}

func TestWhatAQuietLoggerBeginsItRemembersForItsChildren(t *testing.T) {
	t.Parallel()
	log, out := logger(t, "info", "json")
	q := telemetry.Quiet(log)
	q.With("worker", "a").WarnContext(t.Context(), "gone")
	q.With("worker", "b").WarnContext(t.Context(), "gone")
	q.WithGroup("g").WarnContext(t.Context(), "gone", "x", 1)
	require.Equal(t, 1, strings.Count(out.String(), "gone"))
	require.Contains(t, out.String(), `"worker":"a"`)
}

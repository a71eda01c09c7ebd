package telemetry_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telemetry"
)

func requireHealth(t *testing.T, h *telemetry.Health, ready bool, text string) {
	t.Helper()
	ok, got := h.Ready()
	require.Equal(t, text, got)
	require.Equal(t, ready, ok)
}

func TestAProcessThatStartsIsAliveAndNotReady(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	require.True(t, h.Alive())
	requireHealth(t, h, false, "not ready\nstart: starting\n")
	h.Well(telemetry.PartStart)
	requireHealth(t, h, true, "ready\n")
}

func TestHealthNamesEveryPartThatIsUnwell(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	h.Degrade(telemetry.PartTelegram, "no answer")
	h.Degrade(telemetry.PartIntake, "limited")
	requireHealth(t, h, true, "degraded\nintake: limited\ntelegram: no answer\n")
	h.Down(telemetry.PartTemporal, "away")
	requireHealth(t, h, false, "not ready\ntemporal: away\nintake: limited\ntelegram: no answer\n")
	h.Well(telemetry.PartTemporal)
	h.Well(telemetry.PartIntake)
	requireHealth(t, h, true, "degraded\ntelegram: no answer\n")
	h.Well(telemetry.PartTelegram)
	requireHealth(t, h, true, "ready\n")
}

func TestANoteSaysHowAPartIsWell(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	h.Note(telemetry.PartDuty, "stand-by")
	requireHealth(t, h, true, "ready\nduty: stand-by\n")
	h.Degrade(telemetry.PartBudget, "paused")
	requireHealth(t, h, true, "degraded\nbudget: paused\nduty: stand-by\n")
	h.Down(telemetry.PartDuty, "nobody")
	requireHealth(t, h, false, "not ready\nduty: nobody\nbudget: paused\n")
	h.Note(telemetry.PartDuty, "on duty")
	h.Well(telemetry.PartBudget)
	requireHealth(t, h, true, "ready\nduty: on duty\n")
	h.Well(telemetry.PartDuty)
	requireHealth(t, h, true, "ready\n")
}

func TestWhatIsSaidForATimeIsTakenBackByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := well()
		h.DegradeUntil(telemetry.PartPenalty, "silent", time.Now().Add(time.Minute))
		<-time.After(time.Minute - time.Nanosecond)
		requireHealth(t, h, true, "degraded\npenalty: silent\n")
		<-time.After(time.Nanosecond)
		requireHealth(t, h, true, "ready\n")

		h.DegradeUntil(telemetry.PartPenalty, "silent", time.Now().Add(time.Minute))
		h.Degrade(telemetry.PartPenalty, "silent for ever")
		<-time.After(time.Hour)
		requireHealth(t, h, true, "degraded\npenalty: silent for ever\n")
	})
}

func TestTheLastWordOnAPartCounts(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	h.Down(telemetry.PartIntake, "conflict")
	h.Degrade(telemetry.PartIntake, "limited")
	requireHealth(t, h, true, "degraded\nintake: limited\n")
	h.Down(telemetry.PartIntake, "webhook")
	h.Down(telemetry.PartIntake, "refused")
	requireHealth(t, h, false, "not ready\nintake: refused\n")
	h.Well(telemetry.PartIntake)
	h.Well(telemetry.PartIntake)
	requireHealth(t, h, true, "ready\n")
}

func TestAPromiseBrokenByHalfAMinuteMeansStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := telemetry.NewHealth()
		<-time.After(24 * time.Hour)
		require.True(t, h.Alive(), "nothing was promised")
		h.AliveUntil(time.Now().Add(time.Minute))
		<-time.After(90*time.Second - time.Nanosecond)
		require.True(t, h.Alive())
		<-time.After(time.Nanosecond)
		require.False(t, h.Alive())
		h.AliveUntil(time.Now().Add(time.Second))
		require.True(t, h.Alive(), "it goes on")
	})
}

func TestHealthIsToldAndAskedFromEverywhere(t *testing.T) {
	t.Parallel()
	h := telemetry.NewHealth()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				h.Down(telemetry.PartWorker, "x")
				h.Ready()
				h.AliveUntil(time.Now())
				h.Alive()
				h.Well(telemetry.PartWorker)
			}
		})
	}
	group.Wait()
	requireHealth(t, h, false, "not ready\nstart: starting\n")
}

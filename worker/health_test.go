package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker"
)

func TestATroubleOfIntakeShowsInHealth(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[starter.Trouble]string{
		starter.TelegramAway:   "degraded",
		starter.Limited:        "degraded",
		starter.TemporalAway:   "not ready",
		starter.Refused:        "not ready",
		starter.OtherPoller:    "not ready",
		starter.ForeignWebhook: "not ready",
		starter.Rejected:       "not ready",
		starter.Undelivered:    "degraded",
	} {
		h := ready()
		refused := false
		w := worker.NewWatch(h, newMetrics(t), func() { refused = true })
		w.Trouble(trouble, "because of this")
		ok, text := h.Ready()
		require.Equal(t, want == "degraded", ok)
		require.True(t, strings.HasPrefix(text, want+"\n"), text)
		require.Contains(t, text, "because of this")
		require.Equal(t, map[telemetry.Part]starter.Trouble{telemetry.PartIntake: trouble}, h.Unwell())
		require.Equal(t, trouble == starter.Refused, refused, "only a refused token ends the term")
		w.Trouble(starter.Fine, "")
		_, text = h.Ready()
		require.Equal(t, "ready\n", text)
	}
}

func TestAPollIsCountedAndAPromiseKept(t *testing.T) {
	t.Parallel()
	h := ready()
	metrics := newMetrics(t)
	w := worker.NewWatch(h, metrics, nil)
	w.Polled()
	w.Alive(time.Now().Add(-time.Minute))
	require.False(t, h.Alive(), "a promise broken by more than half a minute")
	w.Alive(time.Now().Add(time.Minute))
	require.True(t, h.Alive())
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "durabot_polls_total" {
			require.InDelta(t, 1, f.GetMetric()[0].GetCounter().GetValue(), 0)
			return
		}
	}
	require.Fail(t, "polls are not counted")
}

func TestAnAbsentTemporalIsNoticedAndForgiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := ready()
		var back atomic.Bool
		s := &server{health: func() error {
			if back.Load() {
				return nil
			}
			return errors.New("connection refused")
		}}
		ctx, cancel := context.WithCancel(t.Context())
		worker.NewProcess(worker.Options{Temporal: s, Health: h}, nil, nil).Watch(ctx)
		time.Sleep(6 * time.Second)
		ok, text := h.Ready()
		require.False(t, ok)
		require.Contains(t, text, "Temporal does not answer: connection refused")
		back.Store(true)
		time.Sleep(5 * time.Second)
		ok, _ = h.Ready()
		require.True(t, ok)
		cancel()
		synctest.Wait()
	})
}

func TestAMissingNamespaceAndRefusedCredentialsAreTold(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"create it with":            serviceerror.NewNamespaceNotFound("bots"),
		"refuses these credentials": serviceerror.NewPermissionDenied("the key has expired", ""),
	} {
		synctest.Test(t, func(t *testing.T) {
			h := ready()
			ctx, cancel := context.WithCancel(t.Context())
			s := &server{health: func() error { return err }}
			worker.NewProcess(worker.Options{Temporal: s, Namespace: "bots", TemporalAddress: "temporal:7233", Health: h}, nil, nil).Watch(ctx)
			time.Sleep(6 * time.Second)
			ok, text := h.Ready()
			require.False(t, ok)
			require.Contains(t, text, want)
			cancel()
			synctest.Wait()
		})
	}
}

func TestATemporalThatHangsIsAbsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := ready()
		ctx, cancel := context.WithCancel(t.Context())
		worker.NewProcess(worker.Options{Temporal: &server{}, Health: h}, nil, nil).Watch(ctx)
		time.Sleep(9500 * time.Millisecond)
		ok, _ := h.Ready()
		require.False(t, ok)
		cancel()
		synctest.Wait()
	})
}

func TestAStopIsNoAbsence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := ready()
		ctx, cancel := context.WithCancel(t.Context())
		worker.NewProcess(worker.Options{Temporal: &server{}, Health: h}, nil, nil).Watch(ctx)
		time.Sleep(6 * time.Second) // a check is under way
		cancel()
		synctest.Wait()
		ok, _ := h.Ready()
		require.True(t, ok)
	})
}

func TestSearchAttributesAreUsedWhenAllAreThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		attributes []string
		want       bool
	}{
		{[]string{"TgChat", "TgKind", "TgOutcome", "Other"}, true},
		{[]string{"TgChat", "TgKind"}, false},
		{nil, false},
	} {
		got, err := worker.KnowsAttributes(t.Context(), &server{attributes: c.attributes}, "bots")
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	away := errors.New("away")
	_, err := worker.KnowsAttributes(t.Context(), &server{err: away}, "bots")
	require.ErrorIs(t, err, away)
}

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
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker"
)

// server is a Temporal that knows its health and its search attributes.
type server struct {
	client.Client
	operatorservice.OperatorServiceClient
	health     func() error
	attributes []string
	err        error
}

func (s *server) CheckHealth(ctx context.Context, _ *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	if s.health == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &client.CheckHealthResponse{}, s.health()
}

func (s *server) OperatorService() operatorservice.OperatorServiceClient { return s }

func (s *server) ListSearchAttributes(_ context.Context, in *operatorservice.ListSearchAttributesRequest, _ ...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	res := &operatorservice.ListSearchAttributesResponse{CustomAttributes: map[string]enumspb.IndexedValueType{}}
	if in.GetNamespace() != "bots" {
		return res, s.err
	}
	for _, name := range s.attributes {
		res.CustomAttributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	return res, s.err
}

// ready is a health whose start is over.
func ready() *telemetry.Health {
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	return h
}

func TestATroubleOfIntakeShowsInHealth(t *testing.T) {
	t.Parallel()
	for trouble, want := range map[starter.Trouble]string{
		starter.TelegramAway:   "degraded",
		starter.Limited:        "degraded",
		starter.TemporalAway:   "not ready",
		starter.Refused:        "not ready",
		starter.OtherPoller:    "not ready",
		starter.ForeignWebhook: "not ready",
	} {
		h := ready()
		metrics, err := telemetry.NewMetrics()
		require.NoError(t, err)
		w := worker.NewWatch(h, metrics)
		w.Trouble(trouble, "because of this")
		ok, text := h.Ready()
		require.Equal(t, want == "degraded", ok)
		require.True(t, strings.HasPrefix(text, want+"\n"), text)
		require.Contains(t, text, "because of this")
		w.Trouble(starter.Fine, "")
		_, text = h.Ready()
		require.Equal(t, "ready\n", text)
	}
}

func TestAPollIsCountedAndAPromiseKept(t *testing.T) {
	t.Parallel()
	h := ready()
	metrics, err := telemetry.NewMetrics()
	require.NoError(t, err)
	w := worker.NewWatch(h, metrics)
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
		worker.NewProcess(worker.Options{Temporal: s, Health: h}, nil, nil, nil, nil).Watch(ctx)
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

func TestATemporalThatHangsIsAbsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := ready()
		ctx, cancel := context.WithCancel(t.Context())
		worker.NewProcess(worker.Options{Temporal: &server{}, Health: h}, nil, nil, nil, nil).Watch(ctx)
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
		worker.NewProcess(worker.Options{Temporal: &server{}, Health: h}, nil, nil, nil, nil).Watch(ctx)
		time.Sleep(6 * time.Second) // a check is under way
		cancel()
		synctest.Wait()
		ok, _ := h.Ready()
		require.True(t, ok)
	})
}

func TestARefusedTokenIsDownUntilACallIsTaken(t *testing.T) {
	t.Parallel()
	h := ready()
	p := worker.NewProcess(worker.Options{Health: h}, nil, nil, nil, nil)
	p.Unauthorized(true)
	ok, text := h.Ready()
	require.False(t, ok)
	require.Contains(t, text, "refuses the bot token")
	p.Unauthorized(false)
	ok, _ = h.Ready()
	require.True(t, ok)
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

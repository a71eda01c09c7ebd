package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telemetry"
)

// abacus is a Temporal that counts as many of everything as it is told.
type abacus struct {
	stats.Client // there is no other method

	n     int64
	err   error
	hangs bool
	asked atomic.Int64
}

func (a *abacus) CountWorkflow(ctx context.Context, _ *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	a.asked.Add(1)
	if a.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &workflowservice.CountWorkflowExecutionsResponse{Count: a.n}, a.err
}

func (a *abacus) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, nil
}

func (a *abacus) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return nil, serviceerror.NewNotFound("no duty")
}

// counting is a source that asks this Temporal; nil for one with nothing.
func counting(a *abacus) *stats.Source {
	if a == nil {
		a = &abacus{}
	}
	source := &stats.Source{}
	source.Open(a, "bots", 7, true)
	return source
}

func TestNumbersAreGaugesOfAScrape(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Registry.MustRegister(telemetry.NewNumbers(counting(&abacus{n: 12})))
	text := scrape(t, m)
	for _, line := range []string{
		"durabot_inbox_unhandled 12", "durabot_queue_depth 12", "durabot_oldest_pending_age_seconds 0", "durabot_broadcasts 0", "durabot_dead_open 12", "durabot_dead_last_24h 12",
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
}

func TestWhatTheNamespaceCannotTellIsLeftOutOfAScrape(t *testing.T) {
	t.Parallel()
	m, source := newMetrics(t), &stats.Source{}
	source.Open(&abacus{}, "bots", 7, false)
	m.Registry.MustRegister(telemetry.NewNumbers(source))
	text := scrape(t, m)
	require.NotContains(t, text, "durabot_inbox_unhandled")
	require.Contains(t, text, "\ndurabot_queue_depth 0\n")
}

func TestAScrapeGoesOnWithoutATemporal(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]*stats.Source{
		"away": counting(&abacus{err: errors.New("away")}), "not reached yet": {},
	} {
		m := newMetrics(t)
		m.Registry.MustRegister(telemetry.NewNumbers(source))
		text := scrape(t, m)
		require.NotContains(t, text, "durabot_queue_depth", name)
		require.Contains(t, text, "\ndurabot_polls_total 0\n", name)
	}
}

func TestAScrapeWaitsTwoSecondsForATemporalThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMetrics(t)
		m.Registry.MustRegister(telemetry.NewNumbers(counting(&abacus{hangs: true})))
		began := time.Now()
		require.NotContains(t, scrape(t, m), "durabot_queue_depth")
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestScrapesOfFiveSecondsAreOneQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, a := newMetrics(t), &abacus{}
		m.Registry.MustRegister(telemetry.NewNumbers(counting(a)))
		scrape(t, m)
		once := a.asked.Load()
		<-time.After(4999 * time.Millisecond)
		scrape(t, m)
		require.Equal(t, once, a.asked.Load())
		<-time.After(time.Millisecond)
		scrape(t, m)
		require.Equal(t, 2*once, a.asked.Load())
	})
}

func TestThePageOfNumbersIsForScripts(t *testing.T) {
	t.Parallel()
	a := &abacus{n: 3}
	server, _, _ := listenTo(t, counting(a))
	code, body := ask(t, server, http.MethodGet, "/api/v1/stats")
	require.Equal(t, http.StatusOK, code)
	require.JSONEq(t, `{"inbox_unhandled":3,"queue_depth":3,"broadcasts":0,"oldest_pending_age_s":0,"dead_open":3,"dead_last_24h":3,
		"delivered_last_24h":null,"unreachable_chats":null,"limiter":null,"duty":null,"paused":null}`, body)
}

func TestNobodyKeepsThePageOfNumbers(t *testing.T) {
	t.Parallel()
	server, _, _ := listenTo(t, counting(nil))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+server.Addr()+"/api/v1/stats", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Equal(t, "application/json", res.Header.Get("Content-Type"))
}

func TestThePageOfNumbersSaysWhyThereAreNone(t *testing.T) {
	t.Parallel()
	server, _, _ := listenTo(t, counting(&abacus{err: errors.New("no route")}))
	code, body := ask(t, server, http.MethodGet, "/api/v1/stats")
	require.Equal(t, http.StatusServiceUnavailable, code)
	var answer map[string]string
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Equal(t, map[string]string{"error": "ask Temporal: count workflows: no route"}, answer)
}

func TestADashboardCannotWeighOnTemporal(t *testing.T) {
	t.Parallel()
	a := &abacus{}
	source := counting(a)
	server, _, _ := listenTo(t, source)
	began := time.Now()
	for range 100 {
		ask(t, server, http.MethodGet, "/api/v1/stats")
	}
	seconds := int64(time.Since(began)/time.Second) + 1
	require.LessOrEqual(t, a.asked.Load(), 4*seconds, "four counts a second")
}

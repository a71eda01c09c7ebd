package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telemetry"
)

// page is a heartbeat's address, most of which is a secret.
const page = "https://user:" + secret + "@monitor.example/ping/" + secret + "?key=" + secret

// monitor is where heartbeats go, without a network.
type monitor struct {
	asked  []time.Time
	answer func(r *http.Request) (*http.Response, error)
}

func (m *monitor) RoundTrip(r *http.Request) (*http.Response, error) {
	m.asked = append(m.asked, time.Now())
	if m.answer != nil {
		return m.answer(r)
	}
	return status(http.StatusOK, nil), nil
}

func status(code int, header http.Header) *http.Response {
	return &http.Response{StatusCode: code, Header: header, Body: http.NoBody}
}

// beat sends heartbeats for a time of a bubble.
func beat(t *testing.T, m *monitor, health *telemetry.Health, d time.Duration) (log string, metrics *telemetry.Metrics) {
	t.Helper()
	var out bytes.Buffer
	logger, err := telemetry.NewLogger(&out, "info", "json", func(s string) string { return s })
	require.NoError(t, err)
	metrics = newMetrics(t)
	h := &telemetry.Heartbeat{URL: page, Health: health, Metrics: metrics, Log: logger, Client: &http.Client{Transport: m}}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	h.Run(ctx)
	return out.String(), metrics
}

func well() *telemetry.Health {
	h := telemetry.NewHealth()
	h.Well(telemetry.PartStart)
	return h
}

func TestAHeartbeatIsHeardAtOnceAndOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, began := &monitor{}, time.Now()
		log, _ := beat(t, m, well(), 150*time.Second)
		require.Equal(t, []time.Time{began, began.Add(time.Minute), began.Add(2 * time.Minute)}, m.asked)
		require.Empty(t, log, "what is well is not worth a line")
	})
}

func TestAHeartbeatIsKeptWhileTheProcessIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, health, began := &monitor{}, well(), time.Now()
		health.Down(telemetry.PartIntake, "deaf")
		time.AfterFunc(10*time.Minute+time.Second, func() { health.Degrade(telemetry.PartIntake, "hard of hearing") })
		beat(t, m, health, 11*time.Minute)
		require.Equal(t, []time.Time{began.Add(10*time.Minute + 5*time.Second)}, m.asked, "degraded is ready")
	})
}

func TestAHeartbeatThatFailsIsSaidOnceAndCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken, began := &monitor{}, time.Now()
		broken.answer = func(*http.Request) (*http.Response, error) {
			if time.Since(began) < 150*time.Second {
				return status(http.StatusNotFound, nil), nil
			}
			return status(http.StatusNoContent, nil), nil
		}
		log, metrics := beat(t, broken, well(), 299*time.Second)
		require.Len(t, broken.asked, 5)
		require.Equal(t, 1, strings.Count(log, `"level":"WARN"`), log)
		require.Contains(t, log, `"host":"monitor.example","error":"status 404"`)
		require.Equal(t, 1, strings.Count(log, "takes the heartbeat again"))
		require.Contains(t, scrape(t, metrics), "durabot_heartbeat_failures_total 3\n")
	})
}

func TestAMonitorThatHangsCostsTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &monitor{answer: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		log, metrics := beat(t, m, well(), 75*time.Second)
		require.Equal(t, 70*time.Second, m.asked[1].Sub(m.asked[0]))
		require.Contains(t, log, "no answer within 10s")
		require.Contains(t, scrape(t, metrics), "durabot_heartbeat_failures_total 1\n", "and an end of the term is no failure")
	})
}

func TestTheAddressOfAHeartbeatIsNeverTold(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for name, row := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		want   string
	}{
		"refused": {func(*http.Request) (*http.Response, error) { return nil, refused }, "dial tcp: connection refused"},
		"unknown": {func(*http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "monitor.example"}
		}, "lookup monitor.example: no such host"},
		"other": {func(r *http.Request) (*http.Response, error) { return nil, errors.New("no way to " + r.URL.String()) }, "the request failed"},
		"sent on to nothing": {func(r *http.Request) (*http.Response, error) {
			return status(http.StatusFound, http.Header{"Location": {"http://%zz" + secret}}), nil
		}, "the request failed"},
		"sent around": {func(r *http.Request) (*http.Response, error) {
			return status(http.StatusFound, http.Header{"Location": {r.URL.String()}}), nil
		}, "the request failed"},
		"not wanted": {func(*http.Request) (*http.Response, error) { return status(http.StatusForbidden, nil), nil }, "status 403"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log, _ := beat(t, &monitor{answer: row.answer}, well(), time.Second)
				require.Contains(t, log, `"error":"`+row.want+`"`)
				require.NotContains(t, log, secret)
			})
		})
	}
}

func TestAHeartbeatReachesARealPage(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Store(r.Method + " " + r.RequestURI) }))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	h := &telemetry.Heartbeat{URL: server.URL + "/ping?key=1", Health: well(), Metrics: newMetrics(t)}
	var done sync.WaitGroup
	done.Go(func() { h.Run(ctx) })
	require.Eventually(t, func() bool { return asked.Load() == "GET /ping?key=1" }, 10*time.Second, time.Millisecond)
	cancel()
	done.Wait()
}

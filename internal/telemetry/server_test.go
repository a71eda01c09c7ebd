package telemetry_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telemetry"
)

func listen(t *testing.T) (*telemetry.Server, *telemetry.Health, *telemetry.Metrics) {
	t.Helper()
	return listenTo(t, &stats.Source{})
}

func listenTo(t *testing.T, source *stats.Source) (*telemetry.Server, *telemetry.Health, *telemetry.Metrics) {
	t.Helper()
	metrics, err := telemetry.NewMetrics()
	require.NoError(t, err)
	health := telemetry.NewHealth()
	server, err := telemetry.Listen(t.Context(), "127.0.0.1:0", health, metrics, source)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server, health, metrics
}

func ask(t *testing.T, server *telemetry.Server, method, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+server.Addr()+path, http.NoBody)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(body)
}

func TestReadyzSaysWhatHealthSays(t *testing.T) {
	t.Parallel()
	server, health, _ := listen(t)
	code, body := ask(t, server, http.MethodGet, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "not ready\nstart: starting\n", body)
	health.Well(telemetry.PartStart)
	code, body = ask(t, server, http.MethodGet, "/readyz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "ready\n", body)
	health.Degrade(telemetry.PartTelegram, "away")
	code, body = ask(t, server, http.MethodGet, "/readyz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "degraded\ntelegram: away\n", body)
}

func TestHealthzIsAboutBeingStuckAndNothingElse(t *testing.T) {
	t.Parallel()
	server, health, _ := listen(t)
	health.Down(telemetry.PartTemporal, "away")
	code, body := ask(t, server, http.MethodGet, "/healthz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "alive\n", body)
	health.AliveUntil(time.Now().Add(-31 * time.Second))
	code, body = ask(t, server, http.MethodGet, "/healthz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, body, "stuck")
}

func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	server, _, metrics := listen(t)
	metrics.Stored("message")
	metrics.Stored("message")
	code, body := ask(t, server, http.MethodGet, "/metrics")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, body, `durabot_updates_stored_total{kind="message"} 2`)
	require.Contains(t, body, "go_goroutines")
}

func TestNothingElseIsServed(t *testing.T) {
	t.Parallel()
	server, _, _ := listen(t)
	for _, path := range []string{"/", "/healthz/x", "/debug/pprof/"} {
		code, _ := ask(t, server, http.MethodGet, path)
		require.Equal(t, http.StatusNotFound, code, path)
	}
	code, _ := ask(t, server, http.MethodPost, "/readyz")
	require.Equal(t, http.StatusMethodNotAllowed, code)
}

func TestAnAddressThatIsTakenIsAnErrorAtOnceAndNamesTheFlag(t *testing.T) {
	t.Parallel()
	server, health, metrics := listen(t)
	_, err := telemetry.Listen(t.Context(), server.Addr(), health, metrics, &stats.Source{})
	require.ErrorContains(t, err, "--http: ")
	require.ErrorContains(t, err, "choose another address")
}

func TestAClosedServerIsGoneAndIsNoTrouble(t *testing.T) {
	t.Parallel()
	metrics, err := telemetry.NewMetrics()
	require.NoError(t, err)
	health := telemetry.NewHealth()
	health.Well(telemetry.PartStart)
	server, err := telemetry.Listen(t.Context(), "127.0.0.1:0", health, metrics, &stats.Source{})
	require.NoError(t, err)
	// Another test may get the port at once, so a connection tells, not a dial.
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Addr())
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
	require.NoError(t, err)
	answers := bufio.NewReader(conn)
	res, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, server.Close())
	_, err = answers.ReadByte()
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	requireHealth(t, health, true, "ready\n")
}

func TestAServerThatBreaksIsSaidAndStopsNothingElse(t *testing.T) {
	t.Parallel()
	server, health, _ := listen(t)
	require.NoError(t, server.Break())
	require.Eventually(t, func() bool {
		_, text := health.Ready()
		return strings.Contains(text, "http: the HTTP server stopped")
	}, 10*time.Second, 5*time.Millisecond)
	ready, text := health.Ready()
	require.False(t, ready)
	require.Contains(t, text, "start: starting\n", "what was said of the other parts stands")
}

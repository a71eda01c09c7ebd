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
	t.Cleanup(func() { require.NoError(t, server.Close(t.Context())) })
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

func TestWhatIsMountedAnswersForItsPathWithEveryMethod(t *testing.T) {
	t.Parallel()
	server, _, _ := listen(t)
	server.Mount("/telegram/webhook", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Method) }))
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		code, body := ask(t, server, method, "/telegram/webhook")
		require.Equal(t, http.StatusOK, code)
		require.Equal(t, method, body)
	}
	code, _ := ask(t, server, http.MethodGet, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	code, _ = ask(t, server, http.MethodPost, "/telegram/webhook/x")
	require.Equal(t, http.StatusNotFound, code)
}

func TestHeadersOfAMegabyteAreRefused(t *testing.T) {
	t.Parallel()
	server, _, _ := listen(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Addr()+"/healthz", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-Large", strings.Repeat("x", 100<<10))
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, res.StatusCode)
}

func TestCloseAwaitsWhatIsBeingAnsweredAndNoIdleConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes time.Duration
		code  int
	}{"soon": {200 * time.Millisecond, http.StatusOK}, "never": {time.Hour, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics, err := telemetry.NewMetrics()
			require.NoError(t, err)
			server, err := telemetry.Listen(t.Context(), "127.0.0.1:0", telemetry.NewHealth(), metrics, &stats.Source{})
			require.NoError(t, err)
			begun := make(chan struct{})
			server.Mount("/slow", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(begun)
				select {
				case <-time.After(c.takes):
				case <-r.Context().Done():
				}
			}))
			idle := &http.Client{Transport: &http.Transport{}}
			res, err := idle.Get("http://" + server.Addr() + "/healthz") //nolint:noctx // a request of a test
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, res.Body)
			require.NoError(t, res.Body.Close())
			codes := make(chan int, 1)
			go func() {
				req, _ := http.NewRequest(http.MethodGet, "http://"+server.Addr()+"/slow", http.NoBody) //nolint:noctx // as above
				res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
				if err != nil {
					codes <- 0
					return
				}
				_ = res.Body.Close()
				codes <- res.StatusCode
			}()
			<-begun
			began := time.Now()
			require.NoError(t, server.Close(t.Context()))
			require.Less(t, time.Since(began), 4*time.Second)
			require.Equal(t, c.code, <-codes)
		})
	}
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
	require.NoError(t, server.Close(t.Context()))
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

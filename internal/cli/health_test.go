package cli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/internal/telemetry"
)

func TestHealthIsThatOfABotThatRuns(t *testing.T) {
	t.Parallel()
	metrics, err := telemetry.NewMetrics()
	require.NoError(t, err)
	server, err := telemetry.Listen(t.Context(), "127.0.0.1:0", telemetry.NewHealth(), metrics, &stats.Source{})
	require.NoError(t, err)
	defer server.Close(t.Context())
	env := map[string]string{"DURABOT_HTTP": server.Addr(), "HTTP_PROXY": "http://127.0.0.1:1"}
	c := run(t.Context(), env, "health")
	require.Equal(t, "alive\n", c.out)
	require.Empty(t, c.errout)
	require.Zero(t, c.code, "alive though not ready: nothing a restart would mend")
}

// An address of --http such as 0.0.0.0:8080 is no address to others; here it is
// this machine.
func TestHealthAsksWhereABotListensOnEveryInterface(t *testing.T) {
	t.Parallel()
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.URL.Path + "\n"))
	}))
	defer bot.Close()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(bot.URL, "http://"))
	require.NoError(t, err)
	for _, address := range []string{"0.0.0.0:" + port, ":" + port} {
		require.Equal(t, "/healthz\n", run(t.Context(), nil, "health", "--http", address).out)
	}
}

func TestHealthOfABotThatIsStuckOrAwayIsExitCodeOne(t *testing.T) {
	t.Parallel()
	stuck := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "stuck: the poller is overdue", http.StatusServiceUnavailable)
	}))
	defer stuck.Close()
	address := strings.TrimPrefix(stuck.URL, "http://")
	c := run(t.Context(), nil, "health", "--http", address)
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: "+address+": stuck: the poller is overdue\n", c.errout)
	require.Empty(t, c.out)

	c = run(t.Context(), nil, "health", "--http", "127.0.0.1:1")
	require.Equal(t, 1, c.code)
	require.Equal(t, "durabot: no answer from a bot at 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused\n", c.errout)
}

package e2e_test

import (
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// G12: the bot token appears nowhere. What every other test leaves behind is
// swept in TestMain; this one provokes the errors whose text comes near it.

func TestG12TheTokenAppearsNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().ready()
	page := "<html>404: /bot" + w.token + "/sendMessage was not found</html>"
	for _, f := range []telegramsim.Fault{
		{Kind: telegramsim.FaultStatus, Status: http.StatusNotFound, Body: page},
		{Kind: telegramsim.FaultStatus, Status: http.StatusBadGateway, Body: page},
		{Kind: telegramsim.FaultReset},
		{Kind: telegramsim.FaultRefuse},
	} {
		f.Method, f.Times = "sendMessage", 1
		w.ClearFaults()
		w.Fault(f)
		_, _ = w.update(w.SendText(1001, "zebracrossing")) // whatever becomes of it
	}
	id := w.SendText(1001, "fail zebracrossing")
	_, err := w.update(id)
	require.Error(t, err)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		status, body := b.get(path)
		require.NotZero(t, status)
		require.NoError(t, clean(path, []byte(body)))
	}
	for _, args := range [][]string{{"update", "show", strconv.FormatInt(id, 10)}, {"update", "list"}, {"doctor", "-o", "json"}, {"stats", "-o", "json"}, {"chat", "list"}} {
		cmd := exec.CommandContext(t.Context(), shared.durabot, args...) //nolint:gosec // our own binary
		cmd.Env = append(cmd.Environ(), "TELEGRAM_BOT_TOKEN="+w.token, "TELEGRAM_API_URL="+w.api, "TEMPORAL_ADDRESS="+shared.temporal.Addr())
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.NoError(t, clean(args[0], out))
	}
	log, err := os.ReadFile(b.log)
	require.NoError(t, err)
	require.NotContains(t, string(log), "zebracrossing", "message text is in no log, at debug level neither")
	w.Revoke()
	w.eventually("the bot says so", func() bool { return b.notReady("") })
	_, body := b.get("/readyz")
	require.Contains(t, body, "refuses the bot token")
	require.NoError(t, clean("/readyz", []byte(body)))
}

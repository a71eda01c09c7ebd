package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/devserver"
)

// A kill of Temporal must lose and double nothing, and the bot must recover by
// itself. Only this test catches a poller or a worker that gave up meanwhile.

func TestTemporalIsKilledAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server, err := devserver.Start(t.Context(), devserver.Options{
		Path: shared.cli, DBFile: filepath.Join(w.dir, "temporal.db"), LogFile: filepath.Join(w.dir, "temporal.log"),
	})
	require.NoError(t, err)
	defer func() { server.Stop() }()
	b := w.startVia(server.Addr()).ready()
	for i := range int64(20) {
		w.SendText(1000+i, fmt.Sprintf("before %d", i))
	}
	w.eventually("some are answered", func() bool { return len(w.Ledger(0)) >= 5 })
	server.Kill()
	for i := range int64(20) {
		w.SendText(1000+i, fmt.Sprintf("after %d", i))
	}
	w.eventually("the bot says so", func() bool { return b.notReady("") })
	status, _ := b.get("/healthz")
	require.Equal(t, http.StatusOK, status, "a restart of the bot would mend nothing")
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	b.ready()
	w.confirmed()
	for i := range int64(20) {
		want := []string{fmt.Sprintf("re: before %d", i), fmt.Sprintf("re: after %d", i)}
		w.eventually("the chat is answered in order", func() bool { return len(w.Ledger(1000+i)) >= 2 })
		require.Equal(t, want, w.texts(1000+i), "the answers that could not be reported were not sent again")
	}
}

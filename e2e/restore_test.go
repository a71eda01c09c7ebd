package e2e_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// An operator puts back Temporal's database as it was some time ago, and wants to
// know what is done again. Only this test catches a document that says it wrong.

// saved copies the files of the world's own Temporal, which is stopped.
func (w *world) saved(from, to string) {
	w.t.Helper()
	old, err := filepath.Glob(filepath.Join(w.dir, to, "temporal.db*"))
	require.NoError(w.t, err)
	for _, file := range old {
		require.NoError(w.t, os.Remove(file))
	}
	files, err := filepath.Glob(filepath.Join(w.dir, from, "temporal.db*"))
	require.NoError(w.t, err)
	require.NotEmpty(w.t, files)
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, to), 0o700))
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w.t, err)
		if filepath.Base(file) == "temporal.db" && !bytes.HasPrefix(data, []byte("SQLite format 3")) {
			w.t.Skip("this Temporal is not the dev server: its data are not in files that could be put back here")
		}
		require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, to, filepath.Base(file)), data, 0o600))
	}
}

func TestRestoreRepeatsWhatWasOpenAndNothingThatWasClosed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.ownServer()
	defer func() { server.Stop() }()
	for chat := range int64(5) {
		w.CreateChat(telegramsim.Chat{ID: 2000 + chat})
	}
	at := func(chat int64, key string, when time.Time) {
		call := text(chat, key)
		call.At = when
		_, err := w.enqueue(key, call)
		require.NoError(t, err)
	}
	b := w.startVia(server.Addr()).onDuty()
	w.SendText(1001, "closed")
	at(2000, "closed", time.Time{})
	w.eventually("both are answered", func() bool { return len(w.Ledger(0)) == 2 })
	w.confirmed()
	due := time.Now().Add(20 * time.Second)
	at(2001, "due", due)
	at(2002, "due as well", due)
	b.stop()
	server.Stop()
	w.saved(".", "backup")

	var err error
	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	b = w.startVia(server.Addr()).onDuty()
	w.SendText(1001, "between")
	at(2003, "between", time.Time{})
	w.eventually("all are sent", func() bool { return len(w.Ledger(0)) == 6 })
	w.confirmed()
	b.stop()
	server.Stop()
	w.saved("backup", ".")

	server, err = server.Restart(t.Context())
	require.NoError(t, err)
	w.must("pause", "--reason", "restored")
	w.startVia(server.Addr()).onDuty()
	w.must("message", "cancel", "due")
	id := w.SendText(1002, "after")
	w.confirmed()
	w.eventually("it is handled", func() bool { return slices.Contains(w.runs(), id) })
	require.Len(t, w.Ledger(0), 6, "nothing leaves before somebody has looked")
	w.must("resume")
	at(2003, "between", time.Time{}) // its key is forgotten
	w.eventually("what was open is done", func() bool { return len(w.Ledger(0)) == 9 })
	require.Equal(t, []string{"re: after"}, w.texts(1002))
	require.Equal(t, []string{"due as well", "due as well"}, w.texts(2002), "it was open, and had been sent")
	require.Equal(t, []string{"due"}, w.texts(2001), "nobody wanted it again")
	require.Equal(t, []string{"between", "between"}, w.texts(2003))
	require.Equal(t, []string{"re: closed", "re: between"}, w.texts(1001), "Telegram delivers nothing again that was confirmed")
	require.Equal(t, []string{"closed"}, w.texts(2000))
	require.Equal(t, contract.Cancelled, w.outcomes(contract.MessageID(w.bot, "due"))[0].Outcome)
}

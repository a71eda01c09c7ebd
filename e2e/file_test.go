package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// A file of messages that was broken off is gone on with by the same command.
// Only this test catches a line that is lost, or sent twice, at the break.

func TestFileThatWasBrokenOffIsGoneOnWith(t *testing.T) {
	t.Parallel()
	const lines = 400
	w := newWorld(t)
	w.start("--global-per-second", "0", "--chat-per-second", "0").onDuty()
	var file bytes.Buffer
	for i := range lines {
		w.CreateChat(telegramsim.Chat{ID: 3000 + int64(i%40)})
		fmt.Fprintf(&file, `{"chat":%d,"text":"line %d"}`+"\n", 3000+i%40, i)
	}
	path := filepath.Join(w.dir, "messages.jsonl")
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	args := []string{"send", "--from", path, "-o", "json", "--bot", strconv.FormatInt(w.bot, 10)}
	cmd := exec.CommandContext(t.Context(), shared.durabot, args...) //nolint:gosec // our own binary
	cmd.Env = append(os.Environ(), "TEMPORAL_ADDRESS="+shared.temporal.Addr())
	require.NoError(t, cmd.Start())
	w.eventually("some are sent", func() bool { return len(w.Ledger(0)) >= 20 })
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	type summary struct{ Accepted, Duplicates, Failed int }
	second := parse[summary](t, w.must("send", "--from", path, "-o", "json"))
	require.Equal(t, lines, second.Accepted+second.Duplicates)
	require.GreaterOrEqual(t, second.Duplicates, 20)
	require.Zero(t, second.Failed)
	w.eventually("all are sent", func() bool { return len(w.Ledger(0)) == lines })
	third := parse[summary](t, w.must("send", "--from", path, "-o", "json"))
	require.Equal(t, summary{Duplicates: lines}, third)
	seen := map[string]int{}
	for _, m := range w.Ledger(0) {
		seen[m.Text]++
	}
	require.Len(t, seen, lines, "each once")
}

package devserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLastLineIsTheRunsOwn(t *testing.T) {
	t.Parallel()
	old := "an earlier failure\n"
	for name, c := range map[string]struct{ text, want string }{
		"several lines":   {"one\ntwo\n\n  \n", "two"},
		"without newline": {"one\ntwo", "two"},
		"a long log":      {strings.Repeat("x\n", 2*tailBytes) + "last\n", "last"},
		"nothing":         {"", "nothing in LOG"},
		"blank":           {" \n\n", "nothing in LOG"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "server.log")
			require.NoError(t, os.WriteFile(path, []byte(old+c.text), 0o600))
			got := strings.ReplaceAll(lastLine(path, int64(len(old))), path, "LOG")
			require.Equal(t, c.want, got)
		})
	}
}

func TestMissingLogIsNoSecondFailure(t *testing.T) {
	t.Parallel()
	require.Equal(t, "nothing in /nowhere/log", lastLine("/nowhere/log", 0))
}

func TestLogIsAppendedAndTheOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "server.log")
	for _, want := range []int64{0, 3} {
		log, offset, err := openLog(path)
		require.NoError(t, err)
		require.Equal(t, want, offset)
		_, err = log.WriteString("abc")
		require.NoError(t, err)
		require.NoError(t, log.Close())
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "abcabc", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

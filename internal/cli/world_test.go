package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/cli"
)

// scripts are the texts of the manual, by file name.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	all := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all[filepath.Base(file)] = string(text)
	}
	return all
}

// console is one run of the program inside the test.
type console struct {
	code        int
	out, errout string
}

// run runs the program with these variables and no others.
func run(ctx context.Context, env map[string]string, args ...string) console {
	var out, errout safeBuffer
	code := cli.Program{
		Handler: durabot.Echo, Stock: map[string]activities.Handler{"echo": durabot.Echo}, Args: args,
		Env:    func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		Stdout: &out, Stderr: &errout,
	}.Run(ctx)
	return console{code, out.String(), errout.String()}
}

// safeBuffer is a buffer that a program may still write to while it is read.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends.
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// bots counts the bots, so that tests share a server and no queue.
var bots atomic.Int64

// newToken is of a bot that no other test has.
func newToken() string {
	return strconv.FormatInt(900_000_000+bots.Add(1), 10) + ":TEST-secret-of-no-bot-0000000000000000"
}

// newName is a name that nothing else on the shared server has.
func newName(prefix string) string { return prefix + "-" + strconv.FormatInt(bots.Add(1), 10) }

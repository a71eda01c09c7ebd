package cli_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/devserver"
)

// program is the name under which this test binary is the program itself.
const program = "durabot"

// TestMain makes this binary the program when it is called by its name, and
// otherwise runs the tests and then ends the one Temporal that they share.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		os.Exit(cli.Main(durabot.Echo, map[string]activities.Handler{"echo": durabot.Echo}))
	}
	// The tests wait far more than they work.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code := m.Run()
	stopShared()
	os.Exit(code)
}

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		shared.server.Stop()
	}
}

var shared struct {
	sync.Mutex

	server *devserver.Server
	err    error
}

// temporalPath is the Temporal binary, "" when there is none on this machine.
func temporalPath() (string, error) {
	path, err := devserver.Locate(devserver.FindOptions{Dir: filepath.Join("..", "..")})
	if errors.Is(err, devserver.ErrNotFound) {
		return "", nil
	}
	return path, err
}

// sharedTemporal starts the server when it is first needed. It outlives the test
// that asked first.
func sharedTemporal(ctx context.Context) (*devserver.Server, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil || shared.err != nil {
		return shared.server, shared.err
	}
	path, err := temporalPath()
	if err != nil {
		return nil, err
	}
	log := filepath.Join(os.TempDir(), "durabot-cli-test-temporal.log")
	shared.server, shared.err = devserver.Start(ctx, devserver.Options{Path: path, LogFile: log, SearchAttributes: []string{}})
	return shared.server, shared.err
}

// temporal is the address of the shared server; the test is skipped without one.
func temporal(t *testing.T) string {
	t.Helper()
	path, err := temporalPath()
	require.NoError(t, err)
	if path == "" {
		t.Skip("no temporal binary: `make server` builds one")
	}
	server, err := sharedTemporal(t.Context())
	require.NoError(t, err)
	return server.Addr()
}

package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/devserver"
)

// shared is what all tests use: one Temporal server, two binaries, one folder
// that keeps everything the run leaves behind.
var shared struct {
	temporal *devserver.Server
	cli      string // the temporal binary
	durabot  string
	testbot  string
	dir      string
	stalls   stalls
}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx := context.Background() // the root of the test binary
	dir, err := os.MkdirTemp("", "durabot-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	shared.dir = dir
	if shared.cli, err = devserver.Find(ctx, devserver.FindOptions{Dir: "..", Progress: os.Stderr}); err != nil {
		return 1, err
	}
	for path, pkg := range map[*string]string{&shared.durabot: "../cmd/durabot", &shared.testbot: "./testbot"} {
		*path = filepath.Join(dir, "bin", filepath.Base(pkg))
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", *path, pkg).CombinedOutput(); err != nil { //nolint:gosec // our own packages
			return 1, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	shared.temporal, err = devserver.Start(ctx, devserver.Options{
		Path: shared.cli, DBFile: filepath.Join(dir, "temporal.db"), LogFile: filepath.Join(dir, "temporal.log"),
	})
	if err != nil {
		return 1, err
	}
	defer shared.temporal.Stop()
	temporal, err := client.Dial(client.Options{HostPort: shared.temporal.Addr(), Logger: sdklog.NewStructuredLogger(discard)})
	if err != nil {
		return 1, err
	}
	defer temporal.Close()
	watching, enough := context.WithCancel(ctx)
	defer enough()
	go shared.stalls.watch(watching, temporal)
	// The tests wait far more than they work.
	if err := flag.Set("test.parallel", "6"); err != nil {
		return 1, err
	}
	if code = m.Run(); code != 0 {
		return code, nil
	}
	return 0, sweep(ctx)
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"github.com/durabot/durabot/internal/devserver"
)

// lab is what all measurements share.
type lab struct {
	plan
	dir      string
	binary   string
	temporal *devserver.Server
	client   client.Client
	bots     atomic.Int64
}

// newLab builds durabot and starts Temporal.
func newLab(ctx context.Context, p plan) (*lab, error) {
	dir, err := os.MkdirTemp("", "durabot-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{plan: p, dir: dir, binary: filepath.Join(dir, "durabot")}
	if err := l.furnish(ctx); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *lab) furnish(ctx context.Context) error {
	path, err := devserver.Find(ctx, devserver.FindOptions{Dir: root(ctx), Progress: os.Stderr})
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", l.binary, "github.com/durabot/durabot/cmd/durabot")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build durabot: %w\n%s", err, out)
	}
	l.temporal, err = devserver.Start(ctx, devserver.Options{
		Path: path, DBFile: filepath.Join(l.dir, "temporal.db"), LogFile: filepath.Join(l.dir, "temporal.log"),
	})
	if err != nil {
		return err
	}
	l.client, err = client.DialContext(ctx, client.Options{
		HostPort: l.temporal.Addr(), Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	return err
}

// close leaves the folder, with what the processes logged.
func (l *lab) close() {
	if l.client != nil {
		l.client.Close()
	}
	if l.temporal != nil {
		l.temporal.Stop()
	}
}

// root is the folder of the module, whose bin/ holds the Temporal server.
func root(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "."
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

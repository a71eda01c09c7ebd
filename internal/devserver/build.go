package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Module is the newest Temporal CLI that `go install` accepts: later ones carry
// a replace directive in their go.mod, which `go install` refuses. It embeds
// server 1.29.1 and the Temporal UI.
const Module = "github.com/temporalio/cli/cmd/temporal@v1.5.1"

// interruptGrace is how long a canceled build may take to end by itself before
// it is killed.
const interruptGrace = 5 * time.Second

// build installs [Module] into bin/ below options.Dir and returns its path.
//
// The build writes into a directory of its own and the finished binary is moved
// into place by a rename. So a killed build leaves no half binary, and of two
// builds at once the later one replaces a whole binary by an equal one.
func build(ctx context.Context, options FindOptions) (string, error) {
	compiler := lookPath(options.Env, "go")
	if compiler == "" {
		return "", errors.New("the Temporal dev server has to be built and Go is not on PATH: " +
			"install Go (https://go.dev/dl) or put the temporal CLI on PATH")
	}
	target := options.binary()
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", fmt.Errorf("create %s: %w", filepath.Dir(target), err)
	}
	scratch, err := os.MkdirTemp(filepath.Dir(target), ".temporal-build-")
	if err != nil {
		return "", fmt.Errorf("create a directory for the build: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }() // a leftover hides no result

	if err := install(ctx, compiler, scratch, options); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(scratch, filepath.Base(target)), target); err != nil {
		return "", fmt.Errorf("move the built Temporal dev server into place: %w", err)
	}
	return target, nil
}

// install runs `go install` with its result in dir.
func install(ctx context.Context, compiler, dir string, options FindOptions) error {
	output := &buildOutput{}
	cmd := exec.CommandContext(ctx, compiler, "install", "-v", Module)
	cmd.Dir = dir
	cmd.Env = append(options.Env, installEnv(dir)...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace

	report := startProgress(options.Progress, "building the Temporal dev server (once, about 4 minutes)", output.state)
	err := cmd.Run()
	report.stop(err == nil)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("build the Temporal dev server: %w", context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("build the Temporal dev server with `go install %s`: %w: %s",
			Module, err, strings.Join(output.complaints(), " | "))
	}
	return nil
}

// installEnv overrides what a surrounding module, workspace or cross build would
// change. GOFLAGS needs a value: an empty one makes Go read the user's saved
// flags again, and `-mod=mod` or `-mod=vendor` among them break the install.
func installEnv(dir string) []string {
	return []string{
		"GOBIN=" + dir,
		"GOWORK=off",
		"GOFLAGS=-buildvcs=false",
		"GOOS=" + runtime.GOOS,
		"GOARCH=" + runtime.GOARCH,
	}
}

package devserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// PathVariable is the environment variable that names the Temporal binary
// outright. It exists for machines that keep the binary outside of PATH, and
// for tests.
const PathVariable = "TEMPORAL_CLI_PATH"

// ErrNotFound says that no Temporal binary is on this machine yet. [Locate]
// returns it; [Find] builds one instead.
var ErrNotFound = errors.New("no temporal binary found")

// FindOptions says where to look for the Temporal binary and where to put one
// that has to be built. The zero value looks below the working directory and
// reports no progress.
type FindOptions struct {
	// Dir is the directory whose bin/ holds, or will hold, the binary.
	// Default: the working directory.
	Dir string
	// Progress receives what a build is doing: on a terminal one line that is
	// redrawn, elsewhere one line each 30 s. Default: discarded.
	Progress io.Writer
	// Env is the environment that PATH is read from and that the build runs
	// with, as KEY=VALUE. Default: the environment of this process.
	Env []string
}

// Find returns the absolute path of a Temporal binary: the one that
// [PathVariable] names, `temporal` on PATH, bin/temporal below
// [FindOptions.Dir], or, when none of them exists, one that it builds into that
// bin/ first. Building needs Go and a module proxy and takes about four minutes
// on two cores, once; a canceled ctx ends it and leaves nothing behind.
func Find(ctx context.Context, options FindOptions) (string, error) {
	path, err := Locate(options)
	if !errors.Is(err, ErrNotFound) {
		return path, err
	}
	options, err = options.withDefaults()
	if err != nil {
		return "", err
	}
	return build(ctx, options)
}

// Locate is [Find] without the build: it returns [ErrNotFound] when there is no
// binary yet, so a test can skip instead of waiting for minutes. A
// [PathVariable] that names nothing executable is an error of its own, because
// falling back in silence would run another server than the one asked for.
func Locate(options FindOptions) (string, error) {
	options, err := options.withDefaults()
	if err != nil {
		return "", err
	}
	if path := lookupEnv(options.Env, PathVariable); path != "" {
		if !isExecutable(path) {
			return "", fmt.Errorf("%s is set to %q, which is not an executable file", PathVariable, path)
		}
		return filepath.Abs(path)
	}
	if path := lookPath(options.Env, "temporal"); path != "" {
		return path, nil
	}
	if path := options.binary(); isExecutable(path) {
		return path, nil
	}
	return "", fmt.Errorf("%w: looked on PATH and for %s", ErrNotFound, options.binary())
}

func (o FindOptions) withDefaults() (FindOptions, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("resolve directory %q: %w", o.Dir, err)
	}
	o.Dir = dir
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	return o, nil
}

// binary is where a built server lies.
func (o FindOptions) binary() string {
	return filepath.Join(o.Dir, "bin", executableName("temporal"))
}

// lookPath is exec.LookPath over the given environment instead of the one of
// this process. Relative entries of PATH are skipped: what they mean depends on
// the working directory.
func lookPath(env []string, name string) string {
	for _, dir := range filepath.SplitList(lookupEnv(env, "PATH")) {
		path := filepath.Join(dir, executableName(name))
		if filepath.IsAbs(dir) && isExecutable(path) {
			return path
		}
	}
	return ""
}

// lookupEnv returns the last value of key, as the operating system would see it.
func lookupEnv(env []string, key string) string {
	value := ""
	for _, entry := range env {
		if name, v, _ := strings.Cut(entry, "="); name == key {
			value = v
		}
	}
	return value
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	return runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0
}

func executableName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

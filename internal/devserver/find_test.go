package devserver

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// machine is a computer with an empty bin/ and one directory on PATH.
type machine struct {
	path    string // the directory on PATH
	options FindOptions
	output  *lockedBuffer
}

func newMachine(t *testing.T, env ...string) machine {
	t.Helper()
	m := machine{path: t.TempDir(), output: &lockedBuffer{}}
	m.options = FindOptions{
		Dir:      t.TempDir(),
		Progress: m.output,
		Env:      append([]string{"PATH=" + m.path}, env...),
	}
	return m
}

// file puts an executable where a binary would be.
func file(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o755))
	return path
}

// lockedBuffer is a bytes.Buffer that a test may read while it is written.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func TestBinaryOnPathComesBeforeTheOneInBin(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	want := file(t, filepath.Join(m.path, "temporal"))
	file(t, filepath.Join(m.options.Dir, "bin", "temporal"))

	got, err := Find(t.Context(), m.options)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Empty(t, m.output.String(), "nothing is built")
}

func TestBinaryInBinSavesABuild(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	link(t, m.path, "go")
	want := file(t, filepath.Join(m.options.Dir, "bin", "temporal"))

	got, err := Find(t.Context(), m.options)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Empty(t, m.output.String(), "nothing is built")
}

func TestNamedBinaryComesFirst(t *testing.T) {
	t.Parallel()
	want := file(t, filepath.Join(t.TempDir(), "elsewhere"))
	m := newMachine(t, PathVariable+"="+want)
	file(t, filepath.Join(m.path, "temporal"))

	got, err := Find(t.Context(), m.options)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestNamedBinaryThatIsMissingIsNotReplaced(t *testing.T) {
	t.Parallel()
	m := newMachine(t, PathVariable+"=/nowhere/temporal")
	file(t, filepath.Join(m.path, "temporal"))

	_, err := Find(t.Context(), m.options)
	require.EqualError(t, err, `TEMPORAL_CLI_PATH is set to "/nowhere/temporal", which is not an executable file`)
}

func TestLocateNeverBuilds(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	link(t, m.path, "go")

	_, err := Locate(m.options)
	require.ErrorIs(t, err, ErrNotFound)
	require.NoDirExists(t, filepath.Join(m.options.Dir, "bin"))
}

func TestWhatCannotRunIsNotTakenForTheBinary(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	require.NoError(t, os.Mkdir(filepath.Join(m.path, "temporal"), 0o755))
	plain := file(t, filepath.Join(m.options.Dir, "bin", "temporal"))
	require.NoError(t, os.Chmod(plain, 0o644))

	_, err := Locate(m.options)
	require.ErrorIs(t, err, ErrNotFound)
}

func TestRelativeEntryOfPathIsSkipped(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	file(t, filepath.Join(m.path, "temporal"))
	here, err := os.Getwd()
	require.NoError(t, err)
	relative, err := filepath.Rel(here, m.path)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(relative, "temporal"))
	m.options.Env = []string{"PATH=" + relative}

	_, err = Locate(m.options)
	require.ErrorIs(t, err, ErrNotFound, "what it means depends on the working directory")
}

func TestLastOfTwoValuesCounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "2", lookupEnv([]string{"A=1", "AB=3", "A=2"}, "A"))
	require.Empty(t, lookupEnv(nil, "A"))
}

func TestMissingGoIsToldInOneLine(t *testing.T) {
	t.Parallel()
	_, err := Find(t.Context(), newMachine(t).options)
	require.ErrorContains(t, err, "Go is not on PATH: install Go")
	require.NotContains(t, err.Error(), "\n")
}

func TestBuildIsShieldedFromTheSurroundingModule(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "GOFLAGS=-mod=mod", "GOWORK=/some/go.work", "GOOS=plan9", "GOBIN=/tmp/other")
	link(t, m.path, "go")

	path, err := Find(t.Context(), m.options)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(m.options.Dir, "bin", "temporal"), path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "install\n-v\n"+Module+"\n")
	require.Contains(t, string(text), "\nGOWORK=off")
	require.Contains(t, string(text), "\nGOFLAGS=-buildvcs=false")
	require.NotContains(t, string(text), "plan9")
	require.Contains(t, m.output.String(), "building the Temporal dev server (once, about 4 minutes): 0 s")
	require.Contains(t, m.output.String(), "done in")
	onlyTheBinaryIsLeft(t, m)
}

func TestFailedBuildQuotesTheCompilerAndLeavesNothing(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "FAKE_GO=fail")
	link(t, m.path, "go")

	_, err := Find(t.Context(), m.options)
	require.ErrorContains(t, err, "go install "+Module)
	require.ErrorContains(t, err, "service.go:1: no space left on device")
	require.NotContains(t, err.Error(), "\n", "one line")
	require.NotContains(t, err.Error(), "downloading", "only what went wrong")
	require.NotContains(t, m.output.String(), "done")
	onlyTheBinaryIsLeft(t, m)
}

func TestCanceledBuildLeavesNoHalfBinary(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "FAKE_GO=hang")
	link(t, m.path, "go")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := Find(ctx, m.options)
		failed <- err
	}()
	require.Eventually(t, func() bool {
		half, err := filepath.Glob(filepath.Join(m.options.Dir, "bin", ".temporal-build-*", "temporal"))
		return err == nil && len(half) == 1
	}, 10*time.Second, 5*time.Millisecond, "the build has begun to write")
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	onlyTheBinaryIsLeft(t, m)
}

func TestTwoBuildsAtOnceBothFindAWholeBinary(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	link(t, m.path, "go")
	var builds sync.WaitGroup
	failed := make([]error, 4)
	for i := range failed {
		builds.Go(func() { _, failed[i] = Find(t.Context(), m.options) })
	}
	builds.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	require.True(t, isExecutable(m.options.binary()))
	onlyTheBinaryIsLeft(t, m)
}

// onlyTheBinaryIsLeft proves that a build tidied up: bin/ holds the finished
// binary or nothing.
func onlyTheBinaryIsLeft(t *testing.T, m machine) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(m.options.Dir, "bin"))
	require.NoError(t, err)
	for _, entry := range entries {
		require.Equal(t, "temporal", entry.Name())
	}
}

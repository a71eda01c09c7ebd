package devserver

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play the programs that the package runs. A test
// links it under the program's name, because a script that is written and run in
// the same moment fails now and then with "text file busy".
func TestMain(m *testing.M) {
	programs := map[string]func(){
		"go":              fakeGo,
		"temporal-broken": brokenServer,
		"temporal-deaf":   sleeper,
		"parent":          parent,
	}
	if program, ok := programs[filepath.Base(os.Args[0])]; ok {
		program()
		return
	}
	os.Exit(m.Run())
}

// link makes the test binary available as dir/name.
func link(t *testing.T, dir, name string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(dir, name)
	require.NoError(t, os.Symlink(self, path))
	return path
}

// fakeGo is a compiler that writes its environment where the binary belongs, or
// fails, or hangs, as FAKE_GO says.
func fakeGo() {
	fmt.Fprintln(os.Stderr, "go: downloading go.temporal.io/server v1.29.1")
	fmt.Fprintln(os.Stderr, "go.temporal.io/server/common")
	target := filepath.Join(os.Getenv("GOBIN"), "temporal")
	switch os.Getenv("FAKE_GO") {
	case "fail":
		_ = os.WriteFile(target, []byte("half"), 0o755)
		fmt.Fprintln(os.Stderr, "# go.temporal.io/server/service\nservice.go:1: no space left on device")
		os.Exit(1)
	case "hang":
		_ = os.WriteFile(target, []byte("half"), 0o755)
		fmt.Fprintln(os.Stderr, "go.temporal.io/server/hanging")
		waitForInterrupt()
		os.Exit(1)
	default:
		text := strings.Join(append(os.Args[1:], os.Environ()...), "\n")
		_ = os.WriteFile(target, []byte(text), 0o755)
	}
}

func waitForInterrupt() {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	<-interrupted
}

func brokenServer() {
	fmt.Println("reading the database")
	fmt.Println(`level=ERROR msg="no such file or directory"`)
	os.Exit(1)
}

// sleeper says that it is up and then lives until it is killed: it takes
// SIGTERM without acting on it.
func sleeper() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	fmt.Println("ready")
	waitForInterrupt()
}

// parent starts a sleeper that shares its output, and then waits to be killed.
func parent() {
	cmd := exec.Command(filepath.Join(filepath.Dir(os.Args[0]), "temporal-deaf"))
	cmd.Stdout = os.Stdout
	if _, err := startProcess(cmd); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	waitForInterrupt()
}

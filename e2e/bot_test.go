package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	discard = slog.New(slog.DiscardHandler)
	bots    atomic.Int64
)

// bot is one process of a world's bot.
type bot struct {
	w    *world
	cmd  *exec.Cmd
	name string // tells it from the others, see doors
	log  string
	done chan struct{}
}

// start runs the bot with more flags and, for tests that put something between
// it and Temporal, another address of that.
func (w *world) start(flags ...string) *bot { return w.startVia(shared.temporal.Addr(), flags...) }

func (w *world) startVia(temporal string, flags ...string) *bot {
	w.t.Helper()
	return w.startBuild(shared.testbot, temporal, flags...)
}

// startBuild runs a build of the bot, which may be an older one.
func (w *world) startBuild(build, temporal string, flags ...string) *bot {
	w.t.Helper()
	name := "bot-" + strconv.FormatInt(bots.Add(1), 10)
	b := &bot{w: w, name: name, log: filepath.Join(w.dir, name+".log"), done: make(chan struct{})}
	log, err := os.Create(b.log)
	require.NoError(w.t, err)
	defer log.Close()
	args := append([]string{"run", "--http", "127.0.0.1:0", "--log-level", "debug", "--log-format", "json"}, flags...)
	b.cmd = exec.Command(build, args...) //nolint:gosec,noctx // our own binary, ended by kill
	b.cmd.Stdout, b.cmd.Stderr = log, log
	b.cmd.Env = append(os.Environ(), "TELEGRAM_BOT_TOKEN="+w.token, "TELEGRAM_API_URL="+w.api+"/"+name,
		"TEMPORAL_ADDRESS="+temporal, "HANDLED="+w.handled)
	b.cmd.Env = append(b.cmd.Env, w.env...)
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(w.t, b.cmd.Start())
	go func() {
		defer close(b.done)
		_ = b.cmd.Wait()
	}()
	w.t.Cleanup(func() {
		b.kill()
		if w.t.Failed() {
			w.t.Logf("%s ended its log with\n%s", name, b.tail(40))
		}
	})
	return b
}

// tail is the end of the log, for a test that failed: its folder is removed.
func (b *bot) tail(lines int) []byte {
	data, _ := os.ReadFile(b.log)
	all := bytes.SplitAfter(data, []byte("\n"))
	return bytes.Join(all[max(0, len(all)-lines):], nil)
}

// kill is kill -9.
func (b *bot) kill() {
	_ = b.cmd.Process.Kill()
	<-b.done
}

// signal sends a signal and does not wait.
func (b *bot) signal(s syscall.Signal) { require.NoError(b.w.t, b.cmd.Process.Signal(s)) }

// stop is SIGTERM. It returns the exit code and how long the process took.
func (b *bot) stop() (int, time.Duration) {
	b.w.t.Helper()
	began := time.Now()
	b.signal(syscall.SIGTERM)
	b.wait()
	return b.cmd.ProcessState.ExitCode(), time.Since(began)
}

// wait waits for the process to end.
func (b *bot) wait() {
	b.w.t.Helper()
	select {
	case <-b.done:
	case <-time.After(patience):
		require.FailNow(b.w.t, "the bot did not end")
	}
}

// ready waits for /readyz to answer 200.
func (b *bot) ready() *bot {
	b.w.t.Helper()
	b.w.eventually("the bot is ready: see "+b.log, func() bool {
		status, _ := b.get("/readyz")
		return status == http.StatusOK
	})
	return b
}

// degraded reports whether the process is ready and says that something is amiss.
func (b *bot) degraded() bool {
	status, text := b.get("/readyz")
	return status == http.StatusOK && strings.Contains(text, "degraded")
}

// well reports whether the process is ready and nothing is amiss.
func (b *bot) well() bool {
	status, text := b.get("/readyz")
	return status == http.StatusOK && !strings.Contains(text, "degraded")
}

// notReady reports whether the process says that it is not ready, and why: "" is
// anything.
func (b *bot) notReady(why string) bool {
	status, text := b.get("/readyz")
	return status == http.StatusServiceUnavailable && strings.Contains(text, why)
}

// get fetches a path of the bot's HTTP server; status 0 when it does not answer.
func (b *bot) get(path string) (int, string) {
	addr := b.logged("listening", "address")
	if addr == "" {
		return 0, ""
	}
	res, err := http.Get("http://" + addr + path) //nolint:noctx // bounded by the server's life
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(body)
}

// logged is a field of the first log line with the message, "" for none.
func (b *bot) logged(msg, field string) string {
	for _, line := range b.lines() {
		if line["msg"] == msg {
			text, _ := line[field].(string)
			return text
		}
	}
	return ""
}

// lines are the log's JSON lines so far.
func (b *bot) lines() []map[string]any {
	data, err := os.ReadFile(b.log)
	require.NoError(b.w.t, err)
	var all []map[string]any
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line map[string]any
		if json.Unmarshal(lines.Bytes(), &line) == nil {
			all = append(all, line)
		}
	}
	return all
}

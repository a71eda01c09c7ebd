package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/durabot/durabot/internal/telegramsim"
)

// bot is one bot process with a Telegram of its own.
type bot struct {
	*telegramsim.Sim
	cmd  *exec.Cmd
	http *http.Server
	log  *os.File
}

// start runs a bot that no earlier measurement knows.
func (l *lab) start(ctx context.Context, flags ...string) (*bot, error) {
	l.bots++
	token := fmt.Sprintf("%d:bench-secret-of-a-bot-that-is-not-there", 720_000_000+l.bots)
	sim, err := telegramsim.New(telegramsim.Options{
		Token: token, Seed: l.bots, Latency: l.Latency, Limits: telegramsim.Limits{Off: true},
	})
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bot{Sim: sim, http: &http.Server{Handler: sim.Handler(), ReadHeaderTimeout: time.Minute}}
	go b.http.Serve(listener) //nolint:errcheck // ends with Close
	if b.log, err = os.Create(filepath.Join(l.dir, fmt.Sprintf("bot-%d.log", l.bots))); err != nil {
		return nil, err
	}
	b.cmd = exec.Command(l.binary, append([]string{"run", "--http", ""}, flags...)...) //nolint:gosec,noctx // ended by stop
	b.cmd.Stderr = b.log
	b.cmd.Env = append(os.Environ(), "TELEGRAM_BOT_TOKEN="+token,
		"TELEGRAM_API_URL=http://"+listener.Addr().String(), "TEMPORAL_ADDRESS="+l.temporal.Addr())
	if err := b.cmd.Start(); err != nil {
		return nil, err
	}
	return b, b.until(ctx, "the bot polls", func() bool { return b.polls() > 0 })
}

func (b *bot) polls() int {
	n := 0
	for _, r := range b.Requests() {
		if r.Method == "getUpdates" {
			n++
		}
	}
	return n
}

// until waits for something, for at most ten minutes.
func (b *bot) until(ctx context.Context, what string, ok func() bool) error {
	deadline := time.After(10 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("waited in vain: %s: see %s", what, b.log.Name())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stop ends the process as an operator does.
func (b *bot) stop() error {
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	err := b.cmd.Wait()
	_ = b.http.Close()
	_ = b.log.Close()
	_ = b.Close()
	return err
}

// resident is a process's resident memory in MB.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kb, err := strconv.ParseFloat(string(bytes.Fields(append(rest, " 0"...))[0]), 64)
	return kb / 1024, err
}

// processor is the CPU time a process has used.
func processor(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	fields := bytes.Fields(rest)
	user, err := strconv.Atoi(string(fields[11]))
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(string(fields[12]))
	return time.Duration(user+system) * 10 * time.Millisecond, err // in ticks of 1/100 s
}

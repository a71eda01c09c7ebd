package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/durabot/durabot/starter"
)

// bot is a bot that no earlier measurement knows, with a Telegram of its own.
type bot struct {
	*lab
	*sim
	id        int64
	http      string // where its first process serves its metrics, "" for nowhere
	messages  *starter.Messages
	env       []string
	processes []*exec.Cmd // the first one is there alone, or before the others
	log       *os.File
}

// start runs a bot with the flags of durabot run.
func (l *lab) start(ctx context.Context, flags ...string) (*bot, error) {
	b := &bot{lab: l, id: 720_000_000 + l.bots.Add(1)}
	b.messages = starter.NewMessages(l.client, b.id, true)
	token := fmt.Sprintf("%d:bench-secret-of-a-bot-that-is-not-there", b.id)
	var err error
	if b.log, err = os.Create(filepath.Join(l.dir, fmt.Sprintf("bot-%d.log", b.id))); err != nil {
		return nil, err
	}
	if b.sim, err = startSim(token, l.Latency); err != nil {
		return nil, err
	}
	b.env = append(os.Environ(), "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_API_URL="+b.url, "TEMPORAL_ADDRESS="+l.temporal.Addr())
	if err := b.run(flags...); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	err = b.until(ctx, "the bot takes updates", func(p pulse) bool { return p.Polling || p.Webhook != "" })
	if err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

// run starts one more process of the bot.
func (b *bot) run(flags ...string) error {
	cmd := exec.Command(b.binary, append([]string{"run", "--http", ""}, flags...)...)
	cmd.Stderr, cmd.Env = b.log, b.env
	if err := cmd.Start(); err != nil {
		return err
	}
	b.processes = append(b.processes, cmd)
	return nil
}

// join starts one beside the first, on an address of its own if that has one.
func (b *bot) join(ctx context.Context, flags ...string) error {
	if b.http != "" {
		own, err := freeAddress(ctx)
		if err != nil {
			return err
		}
		flags = append(slices.Clone(flags), "--http", own)
	}
	return b.run(flags...)
}

// pid is that of the first process.
func (b *bot) pid() int { return b.processes[0].Process.Pid }

// until waits for something at the simulator, for at most twenty minutes.
func (b *bot) until(ctx context.Context, what string, ok func(pulse) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := b.pulse(ctx)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("waited in vain: %s: see %s: %w", what, b.log.Name(), context.Cause(ctx))
		case err != nil:
			return err
		case ok(p):
			return nil
		}
		<-tick.C
	}
}

// accepted waits for n messages of the bot in all.
func (b *bot) accepted(ctx context.Context, n int) error {
	what := fmt.Sprintf("%d messages", n)
	return b.until(ctx, what, func(p pulse) bool { return p.Requests.Accepted >= n })
}

// stop ends the processes as an operator does, the first one last.
func (b *bot) stop() error {
	var all []error
	for len(b.processes) > 0 {
		last := b.processes[len(b.processes)-1]
		b.processes = b.processes[:len(b.processes)-1]
		_ = last.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(time.Minute, func() { _ = last.Process.Kill() })
		if err := last.Wait(); err != nil {
			all = append(all, fmt.Errorf("durabot run: %w: see %s", err, b.log.Name()))
		}
		kill.Stop()
	}
	return errors.Join(append(all, b.sim.stop(), b.log.Close())...)
}

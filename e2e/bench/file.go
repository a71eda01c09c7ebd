package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// looks is how often the numbers are asked for.
const looks = 11

// file is how fast a file of messages is accepted, none of which is delivered
// meanwhile, what that costs the process, and how soon the numbers that tell of
// them are there.
func file(ctx context.Context, b *bot) ([]figure, error) {
	if _, err := b.verb(ctx, "pause", "--reason", "a measurement"); err != nil {
		return nil, err
	}
	path, err := b.write()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	done, err := b.verb(ctx, "send", "--from", path, "--priority", "bulk", "-o", "json")
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	usage, _ := done.ProcessState.SysUsage().(*syscall.Rusage)
	if err := b.settled(ctx); err != nil {
		return nil, err
	}
	asked, off, err := b.numbers(ctx)
	return []figure{
		{Name: "accepted", Unit: "messages/s", Value: float64(b.Lines) / took, Goal: "≥ 100"},
		{Name: "memory of the process", Unit: "MB", Value: float64(usage.Maxrss) / 1024, Goal: "≤ 150"},
		{Name: "stats while they wait: p50", Unit: "ms", Value: percentile(asked, 50), Goal: "≤ 300"},
		{Name: "queue_depth is off by", Unit: "messages", Value: off, Goal: "0"},
	}, err
}

// settled waits until Temporal has nothing to do: until then the messages are not
// waiting but on their way to where they wait.
func (b *bot) settled(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before, err := processor(b.temporal.Pid())
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now, err := processor(b.temporal.Pid())
		if err != nil || now-before < time.Second/5 {
			return err
		}
		before = now
	}
	return err
}

// verb runs a verb of the command line.
func (b *bot) verb(ctx context.Context, args ...string) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, b.binary, args...)
	cmd.Env, cmd.Stderr = b.env, b.log
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("durabot %s: %w: see %s", args[0], err, b.log.Name())
	}
	return cmd, nil
}

// write writes the file of messages, each to another person.
func (b *bot) write() (string, error) {
	path := filepath.Join(b.dir, strconv.FormatInt(b.id, 10)+".jsonl")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	for i := range b.Lines {
		fmt.Fprintf(out, `{"key":"line-%d","chat":%d,"text":%q}`+"\n", i, firstRecipient+i, bulkText)
	}
	return path, out.Flush()
}

// numbers asks for the stats as a person does, and returns how long each time
// took, sorted, and by how many messages the last answer was wrong.
func (b *bot) numbers(ctx context.Context) (times []float64, off float64, err error) {
	var found struct {
		QueueDepth float64 `json:"queue_depth"`
	}
	for range looks {
		cmd := exec.CommandContext(ctx, b.binary, "stats", "-o", "json")
		cmd.Env, cmd.Stderr = b.env, b.log
		began := time.Now()
		out, err := cmd.Output()
		if err != nil {
			return nil, 0, fmt.Errorf("durabot stats: %w: see %s", err, b.log.Name())
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
		if err := json.Unmarshal(out, &found); err != nil {
			return nil, 0, err
		}
	}
	slices.Sort(times)
	return times, math.Abs(found.QueueDepth - float64(b.Lines)), nil
}

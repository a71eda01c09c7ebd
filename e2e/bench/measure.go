package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// measurement is one that has a bot to itself.
type measurement struct {
	name string // for -only
	// title stands before the names of its figures.
	title string
	// unlimited measures the machine, not Telegram: nobody enforces a limit.
	unlimited bool
	// standby adds a second process of the bot, if there would be one alone.
	standby bool
	// webhook has Telegram post the updates.
	webhook bool
	// metrics has the process serve its metrics.
	metrics bool
	take    func(context.Context, *bot) ([]figure, error)
}

var measurements = []measurement{
	{name: "steady", title: "echo at 20/s", take: steady},
	{name: "burst", title: "burst", unlimited: true, take: burst},
	{name: "memory", title: "durabot run", unlimited: true, take: memory},
	{name: "outbox", title: "one message", unlimited: true, take: outbox},
	{name: "file", title: "send --from", take: file},
	{name: "webhook", title: "webhook", unlimited: true, webhook: true, take: webhook},
	{name: "limit", title: "bulk messages", take: limit},
	{name: "standby", title: "bulk messages, with a stand-by", standby: true, take: limit},
	{name: "handover", title: "hand-over", standby: true, take: handover},
	{name: "penalty", title: "penalty on one chat", take: penalty},
	{name: "priority", title: "priorities", take: priority},
	{name: "group", title: "busy group", take: group},
	{name: "broadcast", title: "broadcast", take: disturbed},
	{name: "actions", title: "Temporal Cloud", metrics: true, take: actions},
	{name: "flood", title: "broadcast without limits", unlimited: true, take: flood},
}

// chosen are the measurements of these names, separated by commas; "" is all.
func chosen(only string) ([]measurement, error) {
	if only == "" {
		return measurements, nil
	}
	var some []measurement
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(measurements, func(m measurement) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-only: no measurement %q", name)
		}
		some = append(some, measurements[i])
	}
	return some, nil
}

// measure takes measurements one after the other, and medians.
func (l *lab) measure(ctx context.Context, list []measurement) ([]figure, error) {
	var all []figure
	for _, m := range list {
		var runs [][]figure
		for n := range l.Runs {
			fmt.Fprintf(os.Stderr, "%s: run %d of %d\n", m.name, n+1, l.Runs)
			one, err := l.once(ctx, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			runs = append(runs, one)
		}
		for i, f := range runs[0] {
			f.Name = m.title + ": " + f.Name
			for _, r := range runs {
				f.All = append(f.All, r[i].Value)
			}
			f.Value = median(f.All)
			all = append(all, f)
		}
	}
	return all, nil
}

// once takes a measurement of a new bot.
func (l *lab) once(ctx context.Context, m measurement) (figures []figure, err error) {
	var flags []string
	if m.unlimited {
		flags = []string{"--global-per-second", "0", "--chat-per-second", "0", "--group-per-minute", "0"}
	}
	address := ""
	if m.webhook || m.metrics {
		if address, err = freeAddress(ctx); err != nil {
			return nil, err
		}
		flags = append(flags, "--http", address)
	}
	if m.webhook {
		flags = append(flags, hookFlags(address)...)
	}
	b, err := l.start(ctx, flags...)
	if err != nil {
		return nil, err
	}
	b.http = address
	defer func() { err = errors.Join(err, b.stop()) }()
	if m.unlimited {
		if err := b.unlimited(ctx); err != nil {
			return nil, err
		}
	}
	processes := b.Processes
	if m.standby {
		processes = max(processes, 2)
	}
	for range processes - 1 {
		if err := b.join(ctx, flags...); err != nil {
			return nil, err
		}
	}
	return m.take(ctx, b)
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// percentile is that of sorted numbers.
func percentile(sorted []float64, percent int) float64 {
	return sorted[len(sorted)*percent/100]
}

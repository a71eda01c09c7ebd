package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// noLimits are the flags of a measurement of the machine, not of Telegram.
var noLimits = []string{"--global-per-second", "0", "--chat-per-second", "0", "--group-per-minute", "0"}

// measure runs everything, one after the other, and takes medians.
func (l *lab) measure(ctx context.Context) ([]figure, error) {
	var all []figure
	for _, m := range []func(context.Context) ([]figure, error){l.steady, l.burst, l.memory} {
		var runs [][]figure
		for range l.Runs {
			one, err := m(ctx)
			if err != nil {
				return nil, err
			}
			runs = append(runs, one)
		}
		for i, f := range runs[0] {
			for _, r := range runs {
				f.All = append(f.All, r[i].Value)
			}
			f.Value = median(f.All)
			all = append(all, f)
		}
	}
	return all, nil
}

// steady is 20 updates/s over 100 chats, within all limits.
func (l *lab) steady(ctx context.Context) ([]figure, error) {
	b, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	w := newLoad(b)
	server, err := processor(l.temporal.Pid())
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(time.Second / 20)
	defer tick.Stop()
	for n := range int(l.Steady.Seconds() * 20) {
		select {
		case <-tick.C:
			w.write(int64(1000 + n%100))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if err := w.answered(ctx); err != nil {
		return nil, err
	}
	after, err := processor(l.temporal.Pid())
	if err != nil {
		return nil, err
	}
	own, err := processor(b.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	times := w.latencies()
	n := float64(len(times))
	return []figure{
		{Name: "echo at 20/s: p50", Unit: "ms", Value: times[len(times)/2], Goal: "≤ 30"},
		{Name: "echo at 20/s: p99", Unit: "ms", Value: times[len(times)*99/100], Goal: "≤ 150"},
		{Name: "echo at 20/s: CPU of Temporal", Unit: "ms/update", Value: float64((after - server).Milliseconds()) / n},
		{Name: "echo at 20/s: CPU of durabot", Unit: "ms/update", Value: float64(own.Milliseconds()) / n},
	}, b.stop()
}

// burst is many updates at once over a third as many chats, without limits.
func (l *lab) burst(ctx context.Context) ([]figure, error) {
	b, err := l.start(ctx, noLimits...)
	if err != nil {
		return nil, err
	}
	w := newLoad(b)
	began := time.Now()
	for n := range l.Burst {
		w.write(int64(1000 + n%max(1, l.Burst/3)))
	}
	if err := w.answered(ctx); err != nil {
		return nil, err
	}
	took := time.Since(began)
	lost, doubled, inverted := w.faults()
	return []figure{
		{Name: "burst: rate", Unit: "updates/s", Value: float64(l.Burst) / took.Seconds(), Goal: "≥ 60"},
		{Name: "burst: lost", Unit: "updates", Value: lost, Goal: "0"},
		{Name: "burst: doubled", Unit: "updates", Value: doubled, Goal: "0"},
		{Name: "burst: out of order", Unit: "updates", Value: inverted, Goal: "0"},
	}, b.stop()
}

// memory is that of durabot run, idle and after many updates.
func (l *lab) memory(ctx context.Context) ([]figure, error) {
	b, err := l.start(ctx, noLimits...)
	if err != nil {
		return nil, err
	}
	idle, err := resident(b.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	w := newLoad(b)
	for n := 0; n < l.Soak; {
		for range min(200, l.Soak-n) {
			w.write(int64(1000 + n%500))
			n++
		}
		if err := w.answered(ctx); err != nil {
			return nil, err
		}
	}
	after, err := resident(b.cmd.Process.Pid)
	if err != nil {
		return nil, err
	}
	return []figure{
		{Name: "durabot run: memory, idle", Unit: "MB", Value: idle, Goal: "≤ 120"},
		{Name: fmt.Sprintf("durabot run: memory after %d updates", l.Soak), Unit: "MB", Value: after, Goal: "≤ 120"},
	}, b.stop()
}

// latencies are the times from question to reply, in ms, sorted.
func (w *load) latencies() []float64 {
	var all []float64
	for _, m := range w.b.Ledger(0) {
		if sent, ok := w.sent[m.Text]; ok {
			all = append(all, float64(m.Time.Sub(sent).Microseconds())/1000)
		}
	}
	slices.Sort(all)
	return all
}

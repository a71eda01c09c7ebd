package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// succession is what it took to follow a process that was on duty, in seconds.
type succession struct {
	silent  float64 // the longest time without a poll
	replied float64 // to the first reply to what came later
	lost    float64
	doubled float64
}

// handover takes the process on duty away, by a stop and by a kill, while people
// write, and looks how long it takes until its successor polls, and replies. What
// a kill leaves in the air may be doubled, and nothing else.
func handover(ctx context.Context, b *bot) ([]figure, error) {
	stop, err := b.worst(ctx, "stop", (*bot).halt)
	if err != nil {
		return nil, err
	}
	kill, err := b.worst(ctx, "kill", (*bot).strike)
	if err != nil {
		return nil, err
	}
	requests, err := b.requests(ctx)
	overlaps := 0.0
	for _, r := range requests {
		if r.Overlapped {
			overlaps++
		}
	}
	return []figure{
		{Name: "a stop, without polls for", Unit: "s", Value: stop.silent, Goal: "≤ 2"},
		{Name: "a stop, to the first reply to what came later", Unit: "s", Value: stop.replied, Goal: "≤ 2"},
		{Name: "a kill, without polls for", Unit: "s", Value: kill.silent, Goal: "≤ 20"},
		{Name: "a kill, to the first reply to what came later", Unit: "s", Value: kill.replied, Goal: "≤ 20"},
		{Name: "doubled by a stop", Unit: "replies", Value: stop.doubled, Goal: "0"},
		{Name: "lost", Unit: "replies", Value: stop.lost + kill.lost, Goal: "0"},
		{Name: "two polls at once", Unit: "polls", Value: overlaps, Goal: "0"},
	}, err
}

// worst is the worst of several.
func (b *bot) worst(ctx context.Context, name string, take func(*bot) error) (worst succession, err error) {
	for n := range b.Leaves {
		one, err := b.succeed(ctx, fmt.Sprint(name, n), take)
		if err != nil {
			return worst, err
		}
		worst.silent, worst.replied = max(worst.silent, one.silent), max(worst.replied, one.replied)
		worst.lost, worst.doubled = worst.lost+one.lost, worst.doubled+one.doubled
	}
	return worst, nil
}

// succeed takes the first of two processes away.
func (b *bot) succeed(ctx context.Context, name string, take func(*bot) error) (succession, error) {
	if len(b.processes) < 2 {
		if err := b.run(); err != nil {
			return succession{}, err
		}
	}
	writing, quit := context.WithCancel(ctx)
	defer quit()
	people, wrote := newLoad(b, name, 1000), make(chan error, 1)
	go func() { wrote <- people.crowd(writing, 50, 10, time.Hour) }()
	if err := b.more(ctx, 50); err != nil {
		return succession{}, err
	}
	at := time.Now()
	if err := take(b); err != nil {
		return succession{}, err
	}
	b.processes = b.processes[1:]
	if err := b.more(ctx, 50); err != nil {
		return succession{}, err
	}
	quit()
	if err := <-wrote; !errors.Is(err, context.Canceled) {
		return succession{}, err
	}
	if err := people.allAnswered(ctx); err != nil {
		return succession{}, err
	}
	return people.since(ctx, at)
}

// more waits until the bot has sent so many from now on.
func (b *bot) more(ctx context.Context, n int) error {
	p, err := b.pulse(ctx)
	if err != nil {
		return err
	}
	return b.accepted(ctx, p.Requests.Accepted+n)
}

// halt stops the process on duty as a deploy does.
func (b *bot) halt() error {
	first := b.processes[0]
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return first.Wait()
}

// strike kills it.
func (b *bot) strike() error {
	first := b.processes[0]
	err := first.Process.Kill()
	_ = first.Wait() // it was killed
	return err
}

// allAnswered waits until each question has a reply: some may have two.
func (w *load) allAnswered(ctx context.Context) error {
	return w.b.until(ctx, "all are answered", func(pulse) bool {
		ledger, err := w.b.ledger(ctx)
		lost, _, _ := w.faults(ledger)
		return err == nil && lost == 0
	})
}

// since is what came of it that the holder was taken away at a time.
func (w *load) since(ctx context.Context, at time.Time) (s succession, err error) {
	requests, err := w.b.requests(ctx)
	if err != nil {
		return s, err
	}
	last := at
	for _, r := range requests {
		if r.Method == "getUpdates" && r.Arrived.After(at) {
			s.silent = max(s.silent, r.Arrived.Sub(last).Seconds())
			last = r.Arrived
		}
	}
	ledger, err := w.b.ledger(ctx)
	for _, m := range ledger {
		if s.replied == 0 && w.sent[m.Text].After(at) {
			s.replied = m.Time.Sub(at).Seconds()
		}
	}
	s.lost, s.doubled, _ = w.faults(ledger)
	return s, err
}

package main

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"
)

// handover takes the process on duty away, by a stop and by a kill, while people
// write, and looks when its successor polls first and sends first.
func handover(ctx context.Context, b *bot) ([]figure, error) {
	writing, quit := context.WithCancel(ctx)
	defer quit()
	people, wrote := newLoad(b, "hand-over", 1000), make(chan error, 1)
	go func() { wrote <- people.crowd(writing, 20, 10, time.Hour) }()
	stopped, err := b.leaves(ctx, (*bot).halt)
	if err != nil {
		return nil, err
	}
	calm := time.Now() // what a kill leaves in the air may be doubled
	killed, err := b.leaves(ctx, (*bot).strike)
	quit()
	if wrong := <-wrote; err == nil && !errors.Is(wrong, context.Canceled) {
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	if err := people.allAnswered(ctx); err != nil {
		return nil, err
	}
	return people.successions(ctx, stopped, killed, calm)
}

// allAnswered waits until each question has a reply: some may have two.
func (w *load) allAnswered(ctx context.Context) error {
	return w.b.until(ctx, "all are answered", func(pulse) bool {
		ledger, err := w.b.ledger(ctx)
		lost, _, _ := w.faults(ledger)
		return err == nil && lost == 0
	})
}

// leaves takes the process on duty away several times and returns when.
func (b *bot) leaves(ctx context.Context, take func(*bot) error) (at []time.Time, err error) {
	for range b.Leaves {
		if err := b.steadied(ctx); err != nil {
			return nil, err
		}
		at = append(at, time.Now())
		if err := take(b); err != nil {
			return nil, err
		}
		b.processes = b.processes[1:]
		// A third process might take the duty in place of the second.
		if err := b.more(ctx); err != nil {
			return nil, err
		}
		if err := b.run(); err != nil {
			return nil, err
		}
	}
	return at, b.steadied(ctx)
}

// more waits until the bot has sent for some seconds from now.
func (b *bot) more(ctx context.Context) error {
	p, err := b.pulse(ctx)
	if err != nil {
		return err
	}
	return b.accepted(ctx, p.Requests.Accepted+30)
}

// steadied waits until both processes have been up for a while.
func (b *bot) steadied(ctx context.Context) error {
	return errors.Join(b.more(ctx), b.until(ctx, "the bot polls", func(p pulse) bool { return p.Polling && p.Pending < 5 }), b.more(ctx))
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

// successions are how long it took from the end of each holder to its successor.
func (w *load) successions(ctx context.Context, stopped, killed []time.Time, calm time.Time) ([]figure, error) {
	requests, err := w.b.requests(ctx)
	if err != nil {
		return nil, err
	}
	ledger, err := w.b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	lost, _, _ := w.faults(ledger)
	_, doubled, _ := w.during(spans{{to: calm}}).faults(ledger)
	overlaps := 0.0
	for _, r := range requests {
		if r.Overlapped {
			overlaps++
		}
	}
	return []figure{
		{Name: "a stop, to the first poll of the next", Unit: "s", Value: longest(stopped, polls(requests)), Goal: "≤ 2"},
		{Name: "a stop, to the first reply to what came after", Unit: "s", Value: w.slowest(stopped, ledger)},
		{Name: "a kill, to the first poll of the next", Unit: "s", Value: longest(killed, polls(requests)), Goal: "≤ 20"},
		{Name: "a kill, to the first reply to what came after", Unit: "s", Value: w.slowest(killed, ledger), Goal: "≤ 20"},
		{Name: "doubled by a stop", Unit: "replies", Value: doubled, Goal: "0"},
		{Name: "lost", Unit: "replies", Value: lost, Goal: "0"},
		{Name: "two polls at once", Unit: "polls", Value: overlaps, Goal: "0"},
	}, nil
}

// polls are when each poll arrived.
func polls(all []request) (at []time.Time) {
	for _, r := range all {
		if r.Method == "getUpdates" {
			at = append(at, r.Arrived)
		}
	}
	return at
}

// longest is the longest time, in seconds, from one of the first to the next of
// the others.
func longest(from, others []time.Time) (most float64) {
	for _, at := range from {
		if i := slices.IndexFunc(others, func(other time.Time) bool { return other.After(at) }); i >= 0 {
			most = max(most, others[i].Sub(at).Seconds())
		}
	}
	return most
}

// slowest is the longest time from one of these to the first reply to what a
// person wrote later.
func (w *load) slowest(from []time.Time, ledger []message) (most float64) {
	for _, at := range from {
		i := slices.IndexFunc(ledger, func(m message) bool { return w.sent[m.Text].After(at) })
		if i >= 0 {
			most = max(most, ledger[i].Time.Sub(at).Seconds())
		}
	}
	return most
}

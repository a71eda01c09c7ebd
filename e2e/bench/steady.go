package main

import "context"

// steady is 20 updates/s over 100 chats, within all limits.
func steady(ctx context.Context, b *bot) ([]figure, error) {
	server, err := processor(b.temporal.Pid())
	if err != nil {
		return nil, err
	}
	w := newLoad(b, "steady", 1000)
	if err := w.crowd(ctx, 100, 20, b.Steady); err != nil {
		return nil, err
	}
	if err := w.answered(ctx); err != nil {
		return nil, err
	}
	after, err := processor(b.temporal.Pid())
	if err != nil {
		return nil, err
	}
	own, err := b.used()
	if err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	times := w.latencies(ledger)
	n := float64(len(times))
	return b.spread(ctx, []figure{
		{Name: "p50", Unit: "ms", Value: percentile(times, 50), Goal: "≤ 30"},
		{Name: "p99", Unit: "ms", Value: percentile(times, 99), Goal: "≤ 150"},
		{Name: "CPU of Temporal", Unit: "ms/update", Value: float64((after - server).Milliseconds()) / n},
		{Name: "CPU of durabot", Unit: "ms/update", Value: float64(own.Milliseconds()) / n},
	})
}

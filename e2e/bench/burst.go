package main

import (
	"context"
	"time"
)

// burst is many updates at once over a third as many chats, without limits.
func burst(ctx context.Context, b *bot) ([]figure, error) {
	w := newLoad(b, "burst", 1000)
	began := time.Now()
	for n := range b.Burst {
		if err := w.write(ctx, n%max(1, b.Burst/3)); err != nil {
			return nil, err
		}
	}
	if err := w.answered(ctx); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	took := ledger[len(ledger)-1].Time.Sub(began)
	lost, doubled, inverted := w.faults(ledger)
	return b.spread(ctx, []figure{
		{Name: "rate", Unit: "updates/s", Value: float64(b.Burst) / took.Seconds(), Goal: "≥ 60"},
		{Name: "lost", Unit: "updates", Value: lost, Goal: "0"},
		{Name: "doubled", Unit: "updates", Value: doubled, Goal: "0"},
		{Name: "out of order", Unit: "updates", Value: inverted, Goal: "0"},
	})
}

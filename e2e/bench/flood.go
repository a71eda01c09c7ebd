package main

import "context"

// flood is a broadcast without limits: what the machine does, and what it costs
// the process.
func flood(ctx context.Context, b *bot) ([]figure, error) {
	if err := b.mail(ctx, b.Crowd); err != nil {
		return nil, err
	}
	if err := b.mailed(ctx); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	untold, doubled, err := b.told(ctx, b.Crowd, ledger)
	if err != nil {
		return nil, err
	}
	events, err := b.longest(ctx)
	if err != nil {
		return nil, err
	}
	memory, err := peak(b.pid())
	n := float64(len(ledger))
	return []figure{
		{Name: "rate", Unit: "sends/s", Value: n / ledger[len(ledger)-1].Time.Sub(ledger[0].Time).Seconds(), Goal: "≥ 1000"},
		{Name: "without one outcome", Unit: "recipients", Value: untold, Goal: "0"},
		{Name: "two copies", Unit: "recipients", Value: doubled, Goal: "0"},
		{Name: "memory of durabot run", Unit: "MB", Value: memory, Goal: "≤ 150"},
		{Name: "longest run", Unit: "events", Value: events, Goal: "≤ 4096"},
	}, err
}

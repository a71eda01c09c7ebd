package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// telegramRate is how many calls a second Telegram takes (Bots FAQ, "My bot is
	// hitting limits"), and durabotRate durabot's default.
	telegramRate = 30
	durabotRate  = 28
)

// limit is a broadcast with a reply a second beside it: how much of what Telegram
// takes is used, and that it is never more.
func limit(ctx context.Context, b *bot) ([]figure, error) {
	w := newLoad(b, "reply", 1000)
	g, loading := errgroup.WithContext(ctx)
	g.Go(func() error { return b.bulk(loading, b.Bulk) })
	g.Go(func() error { return w.crowd(loading, 20, 1, time.Duration(b.Bulk)*time.Second/durabotRate) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := b.accepted(ctx, b.Bulk+len(w.sent)); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	p, err := b.pulse(ctx)
	return []figure{
		{Name: "use of 30 calls/s", Unit: "%", Value: 100 * evenRate(ledger) / telegramRate, Goal: "≥ 92"},
		{Name: "429s", Unit: "calls", Value: float64(p.Requests.Limited), Goal: "0"},
	}, err
}

// evenRate is that of all messages but the first and the last tenth.
func evenRate(ledger []message) float64 {
	first, last := len(ledger)/10, len(ledger)*9/10
	return float64(last-first) / ledger[last].Time.Sub(ledger[first].Time).Seconds()
}

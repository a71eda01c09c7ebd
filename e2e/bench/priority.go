package main

import (
	"context"
	"time"
)

// priority is how soon people are answered while a large broadcast waits, and
// what is left for the broadcast while they ask for more than the limit.
func priority(ctx context.Context, b *bot) ([]figure, error) {
	if err := b.bulk(ctx, b.Waiting); err != nil {
		return nil, err
	}
	few := newLoad(b, "few", 1000)
	if err := few.crowd(ctx, 20, 1, b.Replies); err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	waiting := float64(b.Waiting) - bulkOf(ledger)

	many := newLoad(b, "many", 2000)
	began := time.Now()
	if err := many.crowd(ctx, 400, 40, b.Replies); err != nil {
		return nil, err
	}
	ended := time.Now()
	if ledger, err = b.ledger(ctx); err != nil {
		return nil, err
	}
	// In the first quarter the replies that wait become enough to fill the rate.
	flooded := between(ledger, began.Add(b.Replies/4), ended)
	return []figure{
		{Name: "replies beside a broadcast: p95", Unit: "ms", Value: percentile(few.latencies(ledger), 95), Goal: "≤ 1000"},
		{Name: "messages of it that still waited", Unit: "messages", Value: waiting, Goal: "≥ 3000"},
		{Name: "its share beside 40 replies/s", Unit: "%", Value: 100 * bulkOf(flooded) / float64(len(flooded)), Goal: "≥ 5"},
	}, nil
}

// between are the messages of a time.
func between(ledger []message, from, to time.Time) []message {
	var some []message
	for _, m := range ledger {
		if m.Time.After(from) && m.Time.Before(to) {
			some = append(some, m)
		}
	}
	return some
}

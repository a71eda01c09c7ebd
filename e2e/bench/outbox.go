package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// outbox is how long one message takes on a system that has nothing else to do,
// from the moment it is asked for until its outcome is known, beyond the time
// that Telegram takes.
func outbox(ctx context.Context, b *bot) ([]figure, error) {
	var times []float64
	for i := range b.Messages {
		key, began := fmt.Sprintf("one-%d", i), time.Now()
		call := contract.Call{Method: "sendMessage", Params: map[string]any{"chat_id": firstRecipient + i, "text": "hello"}}
		if err := b.send(ctx, key, call); err != nil {
			return nil, err
		}
		if err := b.ended(ctx, []string{key}); err != nil {
			return nil, err
		}
		times = append(times, float64((time.Since(began)-b.Latency).Microseconds())/1000)
	}
	slices.Sort(times)
	return []figure{
		{Name: "accepted to outcome: p50", Unit: "ms", Value: percentile(times, 50), Goal: "≤ 60"},
		{Name: "accepted to outcome: p99", Unit: "ms", Value: percentile(times, 99)},
	}, nil
}

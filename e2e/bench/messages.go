package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

const (
	// writers is how many messages are asked for at the same time.
	writers = 16
	// firstRecipient is the first chat of a broadcast; people who write have lower ids.
	firstRecipient = 1_000_000
	bulkText       = "bulk"
)

// bulk asks for n messages at bulk priority, each to another person.
func (b *bot) bulk(ctx context.Context, n int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for i := range n {
		g.Go(func() error {
			return b.send(ctx, fmt.Sprintf("bulk-%d", i), contract.Call{
				Method:   "sendMessage",
				Params:   map[string]any{"chat_id": firstRecipient + i, "text": bulkText},
				Priority: contract.Bulk,
			})
		})
	}
	return g.Wait()
}

func (b *bot) send(ctx context.Context, key string, call contract.Call) error {
	_, err := b.messages.Send(ctx, starter.Message{Key: key, Call: call})
	return err
}

// ended waits until all these messages have an outcome. A dead one is an error.
func (b *bot) ended(ctx context.Context, keys []string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for _, key := range keys {
		g.Go(func() error {
			return b.client.GetWorkflow(ctx, contract.MessageID(b.id, key), "").Get(ctx, nil)
		})
	}
	return g.Wait()
}

// bulkOf counts the messages of the broadcast among those of a ledger.
func bulkOf(ledger []message) float64 {
	n := 0
	for _, m := range ledger {
		if m.Text == bulkText {
			n++
		}
	}
	return float64(n)
}

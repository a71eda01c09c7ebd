package main

import (
	"context"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// actions is what Temporal Cloud would bill: the Actions of an update that is
// answered once, of a message, of a broadcast's recipient, and of a day without
// anything. Each takes its time alone, from the others' end on.
func actions(ctx context.Context, b *bot) ([]figure, error) {
	idle, watched, err := b.cost(ctx, func() error { return rest(ctx, b.Idle) })
	if err != nil {
		return nil, err
	}
	perSecond := idle.actions / watched.Seconds()
	var figures []figure
	for _, what := range []struct {
		name string
		n    int
		make func(context.Context, int) error
	}{
		{"an update with one reply", b.Metered, b.converse},
		{"a message", b.Metered, b.inform},
		{"a recipient of a broadcast", b.Bulk, b.publish},
	} {
		c, took, err := b.cost(ctx, func() error { return what.make(ctx, what.n) })
		if err != nil {
			return nil, err
		}
		n := float64(what.n)
		figures = append(figures,
			figure{Name: what.name, Unit: "Actions", Value: (c.actions - perSecond*took.Seconds()) / n},
			figure{Name: what.name, Unit: "bytes of history", Value: c.bytes / n},
		)
	}
	return append(figures, figure{Name: "a day on duty", Unit: "Actions", Value: perSecond * (24 * time.Hour).Seconds()}), nil
}

// converse has n people write, and waits for the replies.
func (b *bot) converse(ctx context.Context, n int) error {
	w := newLoad(b, "metered", 1000)
	if err := w.crowd(ctx, n, 20, time.Duration(n)*time.Second/20); err != nil {
		return err
	}
	return w.answered(ctx)
}

// inform sends n messages.
func (b *bot) inform(ctx context.Context, n int) error {
	var keys []string
	for i := range n {
		call := contract.Call{Method: "sendMessage", Params: map[string]any{"chat_id": firstRecipient + i, "text": "hello"}}
		keys = append(keys, fmt.Sprintf("metered-%d", i))
		if err := b.send(ctx, keys[i], call); err != nil {
			return err
		}
	}
	return b.ended(ctx, keys)
}

// publish sends a broadcast to n people.
func (b *bot) publish(ctx context.Context, n int) error {
	if err := b.mail(ctx, n); err != nil {
		return err
	}
	return b.mailed(ctx)
}

// rest does nothing.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

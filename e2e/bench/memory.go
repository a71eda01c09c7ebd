package main

import (
	"context"
	"fmt"
)

// memory is that of durabot run, idle and after many updates.
func memory(ctx context.Context, b *bot) ([]figure, error) {
	idle, err := resident(b.pid())
	if err != nil {
		return nil, err
	}
	w := newLoad(b, "soak", 1000)
	for n := 0; n < b.Soak; {
		for range min(200, b.Soak-n) {
			if err := w.write(ctx, n%500); err != nil {
				return nil, err
			}
			n++
		}
		if err := w.answered(ctx); err != nil {
			return nil, err
		}
	}
	after, err := resident(b.pid())
	return []figure{
		{Name: "memory, idle", Unit: "MB", Value: idle, Goal: "≤ 120"},
		{Name: fmt.Sprintf("memory after %d updates", b.Soak), Unit: "MB", Value: after, Goal: "≤ 120"},
	}, err
}

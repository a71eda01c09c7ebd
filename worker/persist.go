package worker

import (
	"context"
	"log/slog"
	"time"

	"go.temporal.io/sdk/worker"
)

// persistEvery is between two attempts while Temporal is away.
const persistEvery = time.Second

// persist does something until Temporal is there for it, or ctx ends.
func persist[T any](ctx context.Context, log *slog.Logger, do func() (T, error)) (T, error) {
	for {
		got, err := do()
		if !away(err) || ctx.Err() != nil {
			return got, err
		}
		log.WarnContext(ctx, "Temporal is away: trying again", "error", err)
		wait(ctx, persistEvery)
	}
}

// started starts a worker, each time a new one: one that could not be started
// never can.
func started(ctx context.Context, log *slog.Logger, hire func() worker.Worker) (worker.Worker, error) {
	return persist(ctx, log, func() (worker.Worker, error) {
		w := hire()
		return w, w.Start()
	})
}

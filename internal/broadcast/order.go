package broadcast

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// Order has something done to a broadcast, and returns when Temporal has the
// order: it is carried out when a process runs. Its error may be ErrNone or
// ErrEnded. Of one that is half started a cancel ends the parts.
func Order(ctx context.Context, c Client, bot int64, name string, order contract.BroadcastOrder) error {
	id := contract.BroadcastID(bot, name)
	err := c.SignalWorkflow(ctx, id, "", contract.OrderSignal, order)
	if err == nil {
		return nil
	}
	if !notFound(err) {
		return fmt.Errorf("tell %s: %w", id, err)
	}
	_, err = describe(ctx, c, id)
	switch {
	case err == nil:
		return fmt.Errorf("%s: %w", name, ErrEnded)
	case !errors.Is(err, ErrNone):
		return err
	}
	if err := missing(ctx, c, bot, name); !errors.Is(err, ErrHalfStarted) || order.What != contract.BroadcastCancel {
		return err
	}
	return cancelParts(ctx, c, bot, name, order)
}

// cancelParts ends the parts of a broadcast that was never started. They were
// started side by side, so that a few may be missing between them.
func cancelParts(ctx context.Context, c Client, bot int64, name string, order contract.BroadcastOrder) error {
	const wave = 100
	for from := 1; ; from += wave {
		var told atomic.Int64
		group, telling := errgroup.WithContext(ctx)
		group.SetLimit(looksAtOnce)
		for n := range wave {
			group.Go(func() error {
				open, err := tellPart(telling, c, contract.PartID(bot, name, from+n), order)
				if open {
					told.Add(1)
				}
				return err
			})
		}
		if err := group.Wait(); err != nil || told.Load() == 0 {
			return err
		}
	}
}

// tellPart gives a part an order, and reports whether it is open.
func tellPart(ctx context.Context, c Client, id string, order contract.BroadcastOrder) (open bool, err error) {
	err = c.SignalWorkflow(ctx, id, "", contract.OrderSignal, order)
	switch {
	case notFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("tell %s: %w", id, err)
	default:
		return true, nil
	}
}

package worker

import (
	"context"
	"errors"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker/limiter"
)

// budget lends the limiter to the sender, which knows it by what it needs only.
type budget struct{ *limiter.Limiter }

func (b budget) Acquire(ctx context.Context, w activities.Want) (activities.Grant, error) {
	grant, err := b.Limiter.Acquire(ctx, limiter.Request{
		Chat: w.Chat, Method: w.Method, Items: w.Items, Class: class(w.Priority), Counts: w.Counts, Since: w.Since,
	})
	if p, ok := errors.AsType[*limiter.Paced](err); ok {
		return nil, paced{p}
	}
	if err != nil {
		return nil, err
	}
	return grant, nil
}

func (b budget) Penalize(chat int64, method string, until time.Time) {
	scope := limiter.Scope{Chat: chat}
	if chat == 0 {
		scope.Method = method
	}
	b.Limiter.Penalize(scope, until)
}

type paced struct{ *limiter.Paced }

func (p paced) RetryIn() time.Duration { return p.Delay }

func class(p contract.Priority) limiter.Class {
	switch p {
	case contract.Urgent:
		return limiter.Urgent
	case contract.Bulk:
		return limiter.Bulk
	default:
		return limiter.Normal
	}
}

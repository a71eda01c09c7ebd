package worker

import (
	"context"
	"errors"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/worker/limiter"
)

// budget lends the limiter to the sender, which knows it by what it needs only.
type budget struct {
	*limiter.Limiter
	metrics *telemetry.Metrics
}

func (b budget) Acquire(ctx context.Context, w activities.Want) (activities.Grant, error) {
	grant, err := b.Limiter.Acquire(ctx, limiter.Request{
		Chat: w.Chat, Method: w.Method, Items: w.Items, Class: class(w.Priority), Counts: w.Counts, Since: w.Since,
		Transient: w.Transient, Edits: w.Edits, Flow: w.Flow, FlowPerSecond: w.FlowRate, Paid: w.Paid,
	})
	if err != nil {
		return nil, refusal(err)
	}
	return grant, nil
}

// refusal is the limiter's answer in the sender's words.
func refusal(err error) error {
	if p, ok := errors.AsType[*limiter.Paced](err); ok {
		return paced{p}
	}
	if m, ok := errors.AsType[*limiter.Moved](err); ok {
		return &activities.MovedTo{To: m.To}
	}
	switch {
	case errors.Is(err, limiter.ErrDropped):
		return activities.ErrDropped
	case errors.Is(err, limiter.ErrSuperseded):
		return activities.ErrSuperseded
	}
	return err
}

func (b budget) Penalize(chat int64, method string, until time.Time) {
	b.metrics.Limited(chat, method)
	b.Limiter.Penalize(limiter.Scope{Chat: chat, Method: method}, until)
}

type paced struct{ *limiter.Paced }

func (p paced) RetryIn() time.Duration { return p.Delay }

func (p paced) MethodOnly() bool { return p.Paced.MethodOnly }

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

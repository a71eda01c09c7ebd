package activities

import (
	"context"
	"errors"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

const (
	// floodMost bounds the wait after 429s that name no delay.
	floodMost = time.Minute
	// floodCap is the longest delay that is believed: MTProto knows no longer one
	// (tdlib/td, NetQueryDelayer.cpp).
	floodCap = 14 * 24 * time.Hour
)

// floodWait is the wait after a 429: what Telegram named, or, where it named
// nothing, a second that doubles with each such answer. Jitter only adds to it:
// Telegram punishes a request that comes early.
func floodWait(named time.Duration, floods int, random float64) time.Duration {
	wait := min(named, floodCap)
	if wait <= 0 {
		wait = min(floodMost, time.Second<<min(max(floods-1, 0), 6))
	}
	return wait + time.Duration(random*float64(500*time.Millisecond))
}

// rateLimited keeps everybody off the scope of a 429 and comes back when
// Telegram said. The answer does not tell the scope: the budget hears of the
// method and of the chat, and a call without a chat waits for its method alone.
func (t *try) rateLimited(ctx context.Context, err error) error {
	te, _ := errors.AsType[*telegram.Error](err)
	floods := 0
	if te.RetryAfter <= 0 {
		floods = t.entries().Floods + 1
	}
	d := delay{kind: contract.FailureRateLimited, why: t.told(err), own: t.chat == 0}
	d.wait = floodWait(te.RetryAfter, floods, jitter())
	d.note = func(l *contract.Ledger) { l.Floods = floods }
	if te.RetryAfter >= floodCap {
		d.why += ": taken for 14 days, the longest that Telegram can mean"
	}
	t.penalize(ctx, time.Now().Add(d.wait), d.wait)
	return t.again(ctx, d)
}

func (t *try) penalize(ctx context.Context, until time.Time, wait time.Duration) {
	t.Budget.Penalize(t.chat, t.method.Name, until)
	if t.Chats == nil || t.id == 0 || wait <= lastingPenalty {
		return
	}
	ctx, cancel := noted(ctx)
	defer cancel()
	t.Chats.Penalize(ctx, t.id, t.method.Name, until)
}

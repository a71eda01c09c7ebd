package starter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	// pollTimeout is short so that the poll of a frozen process is over before
	// its successor's first.
	pollTimeout = 10 * time.Second
	// longestRound is a poll that hangs, plus a batch whose starts hang or a
	// probe that does.
	longestRound = 2 * time.Minute
	// arrivedAfter is when a poll that is cut off has surely reached Telegram,
	// which confirms as it arrives (tdlib/td, TQueue.cpp).
	arrivedAfter = time.Second
	// idlePause follows an answer that came at once and brought nothing new, as
	// from a server that does not wait or that ignores the offset.
	idlePause = 250 * time.Millisecond
	// hangUp is for Telegram to see that a poll was cut before the next request
	// comes: two polls at a time are a conflict, also with oneself.
	hangUp = 100 * time.Millisecond
	// confirmTimeout bounds the last request, which only confirms.
	confirmTimeout = 800 * time.Millisecond
)

// Source is the part of the Bot API that the poller uses.
type Source interface {
	Updates(ctx context.Context, r telegram.UpdatesRequest) ([]json.RawMessage, error)
	Me(ctx context.Context) (telegram.User, error)
	WebhookInfo(ctx context.Context) (telegram.WebhookInfo, error)
}

// Store keeps a batch and returns the offset of the first update it could not.
type Store interface {
	Store(ctx context.Context, batch []json.RawMessage, offset int64) (int64, error)
}

// Poller fetches updates by getUpdates and stores them. One at a time may run
// for a bot.
type Poller struct {
	source  Source
	store   Store
	allowed []string
	watch   Watch
	log     *slog.Logger

	offset    int64 // of the first update not stored
	confirmed int64 // the offset Telegram last heard
	failing   failing
}

// Watch is told how polling goes, for health.
type Watch interface {
	// Polled is called after each getUpdates that Telegram answered.
	Polled()
	// Alive is called before each poll and wait; the next call comes before the
	// given time, or the poller is stuck.
	Alive(until time.Time)
	// Trouble is called when polling or storing fails; an empty text ends it.
	Trouble(kind Trouble, text string)
}

// NewPoller returns a poller that asks for the given kinds of updates.
func NewPoller(source Source, store Store, allowed []string, watch Watch, log *slog.Logger) *Poller {
	return &Poller{source: source, store: store, allowed: allowed, watch: watch, log: log, failing: failing{what: "polling"}}
}

// Run polls until ctx ends, and then confirms what was stored since the last
// poll, within a second. It never ends by itself: every failure is waited out.
func (p *Poller) Run(ctx context.Context) {
	for ctx.Err() == nil {
		p.watch.Alive(time.Now().Add(longestRound))
		if wait := p.once(ctx); wait > 0 {
			p.watch.Alive(time.Now().Add(wait))
			pause(ctx, wait)
		}
	}
	p.confirm(context.WithoutCancel(ctx))
}

// once polls and stores one batch. It returns how long to wait before the next.
func (p *Poller) once(ctx context.Context) time.Duration {
	if p.failing.kind == Refused && !p.admitted(ctx) {
		return settledWait
	}
	began := time.Now()
	batch, err := p.source.Updates(ctx, telegram.UpdatesRequest{
		Offset: p.offset, Limit: 100, Timeout: pollTimeout, AllowedUpdates: p.allowed,
	})
	if err != nil {
		if ctx.Err() != nil && time.Since(began) > arrivedAfter {
			p.confirmed = p.offset
		}
		return p.failed(ctx, err)
	}
	p.confirmed = p.offset
	p.watch.Polled()
	next, err := p.store.Store(ctx, batch, p.offset)
	moved := next != p.offset
	p.offset = next
	switch {
	case errors.Is(err, errNothingStored):
		return p.trouble(ctx, TelegramAway, "getUpdates", err)
	case err != nil:
		return p.trouble(ctx, TemporalAway, "store updates", err)
	}
	p.recovered(ctx)
	if !moved && time.Since(began) < arrivedAfter {
		return idlePause
	}
	return 0
}

// confirm tells Telegram what is stored, so that it does not deliver it again
// after a restart. What it answers is not kept, and so not confirmed either.
func (p *Poller) confirm(ctx context.Context) {
	if p.offset == p.confirmed || p.failing.kind == Refused {
		return
	}
	pause(ctx, hangUp)
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	_, err := p.source.Updates(ctx, telegram.UpdatesRequest{Offset: p.offset, Limit: 1, AllowedUpdates: p.allowed})
	if err != nil {
		p.log.InfoContext(ctx, "last updates not confirmed: they come again and are known", "error", err)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

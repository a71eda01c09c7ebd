package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// What happens to the recipients of a broadcast: one in twenty has blocked the
// bot, one in a hundred is answered 429 with 5 s, one in two hundred 502.
const (
	oneBlocked  = 20
	oneLimited  = 100
	oneBroken   = 200
	limitedBody = `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 5","parameters":{"retry_after":5}}`
)

// disturbed is a broadcast with replies beside it, while the process on duty is
// killed at 30 % and 60 % of it, and Temporal restarted at 80 %.
func disturbed(ctx context.Context, b *bot) ([]figure, error) {
	if err := b.trouble(ctx); err != nil {
		return nil, err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	replies, wrote := newLoad(b, "reply", 1000), make(chan error, 1)
	go func() { wrote <- replies.crowd(writing, 20, 1, time.Hour) }()
	quiet, err := b.disturb(ctx)
	stop()
	if wrong := <-wrote; err == nil && !errors.Is(wrong, context.Canceled) {
		err = wrong
	}
	if err != nil {
		return nil, err
	}
	ledger, err := b.ledger(ctx)
	if err != nil {
		return nil, err
	}
	calls, err := b.requests(ctx)
	if err != nil {
		return nil, err
	}
	untold, doubled, err := b.told(ctx, b.Audience, ledger)
	return []figure{
		{Name: "without one outcome", Unit: "recipients", Value: untold, Goal: "0"},
		{Name: "two copies", Unit: "recipients", Value: doubled, Goal: "0"},
		{Name: "429s of our own", Unit: "calls", Value: limited(calls), Goal: "0"},
		{Name: "use of 30 calls/s while undisturbed", Unit: "%", Value: 100 * quiet.rate(calls) / telegramRate, Goal: "≥ 90"},
		{Name: "replies while undisturbed: p95", Unit: "ms", Value: percentile(replies.during(quiet).latencies(ledger), 95), Goal: "≤ 2000"},
		{Name: "all replies: p95", Unit: "ms", Value: percentile(replies.latencies(ledger), 95)},
	}, err
}

// trouble arranges what happens to recipients, who stand anywhere in the audience.
func (b *bot) trouble(ctx context.Context) error {
	for i, place := range rand.Perm(b.Audience) {
		var err error
		switch chat := int64(firstRecipient + place); {
		case i%oneBlocked == 0:
			err = b.block(ctx, chat)
		case i%oneLimited == 7:
			err = b.fault(ctx, chat, http.StatusTooManyRequests, limitedBody)
		case i%oneBroken == 11:
			err = b.fault(ctx, chat, http.StatusBadGateway, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// disturb starts the broadcast, does to it what is to be done, and waits for its
// end. It returns when nothing was wrong.
func (b *bot) disturb(ctx context.Context) (spans, error) {
	if err := b.mail(ctx, b.Audience); err != nil {
		return nil, err
	}
	var quiet spans
	for _, then := range []struct {
		percent int
		happens func(context.Context) error
	}{{30, b.kill}, {60, b.kill}, {80, b.restart}, {95, b.mailed}} {
		from, err := b.goesOn(ctx)
		if err != nil {
			return nil, err
		}
		if err := b.accepted(ctx, b.Audience*then.percent/100); err != nil {
			return nil, err
		}
		quiet = append(quiet, span{from, time.Now()})
		if err := then.happens(ctx); err != nil {
			return nil, err
		}
	}
	return quiet, nil
}

// kill ends the process on duty as a lack of memory would, and starts another.
func (b *bot) kill(context.Context) error {
	_ = b.strike() // one that has ended by itself is replaced, too
	b.processes = b.processes[1:]
	return b.run()
}

// restart ends Temporal as a lack of memory would, and starts it again.
func (b *bot) restart(ctx context.Context) (err error) {
	b.temporal.Kill()
	b.temporal, err = b.temporal.Restart(ctx)
	return err
}

// goesOn waits until the bot polls, and has sent for about a second.
func (b *bot) goesOn(ctx context.Context) (time.Time, error) {
	if err := b.until(ctx, "the bot polls", func(p pulse) bool { return p.Polling }); err != nil {
		return time.Time{}, err
	}
	err := b.more(ctx, durabotRate)
	return time.Now(), err
}

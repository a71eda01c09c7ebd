package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

// Trouble is what keeps updates from coming in.
type Trouble string

// The troubles.
const (
	// Fine is the absence of trouble.
	Fine Trouble = ""
	// TelegramAway: no answer, or one that is no answer of the Bot API.
	TelegramAway Trouble = "telegram"
	// TemporalAway: updates are fetched and cannot be stored.
	TemporalAway Trouble = "temporal"
	// Refused: Telegram does not take the token.
	Refused Trouble = "unauthorized"
	// OtherPoller: somebody else polls with the same token.
	OtherPoller Trouble = "conflict"
	// ForeignWebhook: a webhook is set, so polling cannot work.
	ForeignWebhook Trouble = "webhook"
	// Limited: Telegram limits getUpdates, or what sets a webhook, itself.
	Limited Trouble = "limited"
	// Rejected: Telegram does not take the webhook that it is told to post to.
	Rejected Trouble = "rejected"
	// Undelivered: updates wait, and Telegram says that its posts fail.
	Undelivered Trouble = "delivery"
)

// Troubles are all of them but Fine.
func Troubles() []Trouble {
	return []Trouble{TelegramAway, TemporalAway, Refused, OtherPoller, ForeignWebhook, Limited, Rejected, Undelivered}
}

const (
	backoffFirst = time.Second
	backoffMost  = time.Minute
	// backoffQuick bounds the wait during the first minute or so of an outage,
	// so that its end is noticed within ten seconds.
	backoffQuick = 8 * time.Second
	// settledWait is between two looks at what only a person can mend.
	settledWait = time.Minute
	// rivalPatience is how long another poller may be our own predecessor.
	rivalPatience = time.Minute
)

// failing is the trouble that polling, or the webhook, is in.
type failing struct {
	what  string // is in trouble
	kind  Trouble
	since time.Time
	n     int
}

// note takes another failure, logs the first of its kind, and returns whether it
// was that, and the backoff. What fails because ctx ended is no trouble.
func (f *failing) note(ctx context.Context, log *slog.Logger, kind Trouble, text string, err error) (news bool, wait time.Duration) {
	if ctx.Err() != nil {
		return false, 0
	}
	if news = f.kind != kind; news {
		*f = failing{what: f.what, kind: kind, since: time.Now()}
		log.WarnContext(ctx, f.what+" is in trouble", "kind", string(kind), "what", text, "error", err) //nolint:sloglint // polling, or the webhook
	}
	f.n++
	return news, backoff(f.n, time.Since(f.since))
}

// end reports whether there was trouble until now.
func (f *failing) end(ctx context.Context, log *slog.Logger) bool {
	if f.kind == Fine {
		return false
	}
	log.InfoContext(ctx, f.what+" is well again", "kind", string(f.kind), "after", time.Since(f.since).Round(time.Second)) //nolint:sloglint // as above
	*f = failing{what: f.what}
	return true
}

// failed says how long to wait after a getUpdates that failed.
func (p *Poller) failed(ctx context.Context, err error) time.Duration {
	switch telegram.Classify(err, "getUpdates") {
	case telegram.RateLimited:
		p.trouble(ctx, Limited, "getUpdates", err)
		return limitedWait(err)
	case telegram.Conflict:
		return p.conflict(ctx, err)
	case telegram.Unauthorized, telegram.NotFound:
		return p.refused(ctx, err)
	default:
		return p.trouble(ctx, TelegramAway, "getUpdates", err)
	}
}

// limitedWait is what Telegram asked for, never less, and at least a second.
func limitedWait(err error) time.Duration {
	wait := time.Second
	if te, ok := errors.AsType[*telegram.Error](err); ok {
		wait = max(te.RetryAfter, wait)
	}
	return wait + time.Duration(rand.Float64()*float64(500*time.Millisecond)) //nolint:gosec // jitter
}

// conflict waits for another poller to end, or reports the webhook that is in
// the way. It never removes one: it may be another deployment's.
func (p *Poller) conflict(ctx context.Context, err error) time.Duration {
	if telegram.ConflictKind(err) != telegram.WebhookActive {
		p.trouble(ctx, OtherPoller, "another process polls with this bot token", err)
		if time.Since(p.failing.since) < rivalPatience {
			return between(2*time.Second, 4*time.Second)
		}
		return between(5*time.Second, 10*time.Second)
	}
	host := "unknown host"
	if p.failing.kind != ForeignWebhook {
		if info, err := p.source.WebhookInfo(ctx); err == nil {
			host = WebhookHost(info.URL)
		}
		p.trouble(ctx, ForeignWebhook, "a webhook at "+host+" is set for this bot: call deleteWebhook to poll, or start with --take-over", err)
	}
	return settledWait
}

// WebhookHost is the host of a webhook's URL, whose path may hold a secret.
func WebhookHost(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "unknown host"
	}
	return u.Host
}

// refused ends polling until a getMe succeeds, see admitted.
func (p *Poller) refused(ctx context.Context, err error) time.Duration {
	if !tokenRefused(ctx, p.source.Me) {
		return p.trouble(ctx, TelegramAway, "getUpdates", err)
	}
	p.trouble(ctx, Refused, tokenText, err)
	return settledWait
}

const tokenText = "Telegram refuses the bot token: start with a valid one"

// tokenRefused asks getMe whether the token is bad. A bare 404 means that only if
// getMe says the same; otherwise a gateway is in the way.
func tokenRefused(ctx context.Context, me func(context.Context) (telegram.User, error)) bool {
	_, err := me(ctx)
	class := telegram.Classify(err, "getMe")
	return class == telegram.Unauthorized || class == telegram.NotFound
}

// admitted reports whether Telegram takes the token again: a server that
// refused it answers from memory for a while, so polling would tell nothing.
func (p *Poller) admitted(ctx context.Context) bool {
	_, err := p.source.Me(ctx)
	return err == nil
}

// trouble notes a failure, says so once for each kind, and returns the backoff.
func (p *Poller) trouble(ctx context.Context, kind Trouble, text string, err error) time.Duration {
	news, wait := p.failing.note(ctx, p.log, kind, text, err)
	if news {
		p.watch.Trouble(kind, fmt.Sprintf("%s: %v", text, err))
	}
	return wait
}

func (p *Poller) recovered(ctx context.Context) {
	if p.failing.end(ctx, p.log) {
		p.watch.Trouble(Fine, "")
	}
}

// backoff doubles from a second to a minute, but stays at 8 s until the outage
// has lasted over a minute, with up to a quarter of jitter downward.
func backoff(n int, lasted time.Duration) time.Duration {
	most := min(backoffMost, max(backoffQuick, lasted/8))
	wait := min(most, backoffFirst<<min(max(n-1, 0), 6))
	return between(wait*3/4, wait)
}

func between(least, most time.Duration) time.Duration {
	return least + time.Duration(rand.Float64()*float64(most-least)) //nolint:gosec // jitter
}

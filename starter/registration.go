package starter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	// lookEvery is between two looks at a webhook that is set.
	lookEvery = time.Minute
	// quietLooks is after how many looks without a new error a webhook counts as
	// well again although updates wait: Telegram lets up to two minutes pass
	// between two tries.
	quietLooks = 3
)

// HookAPI is the part of the Bot API that a registration uses.
type HookAPI interface {
	WebhookInfo(ctx context.Context) (telegram.WebhookInfo, error)
	SetWebhook(ctx context.Context, r telegram.WebhookRequest) error
	DeleteWebhook(ctx context.Context) error
	Me(ctx context.Context) (telegram.User, error)
}

// HookWatch is told how it goes, for health; see Watch.
type HookWatch interface {
	Alive(until time.Time)
	Trouble(kind Trouble, text string)
}

// Registration sets the webhook of a bot and watches over it. One at a time may
// run for a bot. One that is not ours it leaves alone, unless it is to take over,
// which it does once.
type Registration struct {
	api      HookAPI
	hook     telegram.WebhookRequest
	takeOver bool
	watch    HookWatch
	log      *slog.Logger

	set       bool // it was ours at the last look
	lastError time.Time
	quiet     int // looks since the last new error
	failing   failing
}

// NewRegistration returns a registration of a webhook. TakeOver is whether one
// that is set for the bot and not ours may be replaced, or removed.
func NewRegistration(api HookAPI, hook telegram.WebhookRequest, takeOver bool, watch HookWatch, log *slog.Logger) *Registration {
	return &Registration{api: api, hook: hook, takeOver: takeOver, watch: watch, log: log, failing: failing{what: "the webhook"}}
}

// Run sets the webhook, also one of ours, whose secret may be another, and looks
// each minute whether it is there and well. It leaves it set when ctx ends: the
// next process on duty takes it over. It never ends by itself.
func (r *Registration) Run(ctx context.Context) {
	r.repeat(ctx, r.look)
}

// Remove removes whatever webhook is set, so that the bot can poll. It returns
// when there is none, or when ctx ends.
func (r *Registration) Remove(ctx context.Context) {
	r.repeat(ctx, r.remove)
}

// repeat takes a step again and again, until ctx ends or the step is the last.
func (r *Registration) repeat(ctx context.Context, step func(context.Context) (wait time.Duration, last bool)) {
	for ctx.Err() == nil {
		r.watch.Alive(time.Now().Add(longestRound))
		wait, last := step(ctx)
		if last {
			return
		}
		r.watch.Alive(time.Now().Add(wait))
		pause(ctx, wait)
	}
}

func (r *Registration) look(ctx context.Context) (time.Duration, bool) {
	info, err := r.api.WebhookInfo(ctx)
	switch {
	case err != nil:
		return r.failed(ctx, "getWebhookInfo", err), false
	case info.URL != "" && !SameAddress(info.URL, r.hook.URL) && !r.takeOver:
		return r.foreign(ctx, info), false
	case r.set && SameAddress(info.URL, r.hook.URL):
		return r.judge(ctx, info), false
	}
	return r.register(ctx, info), false
}

// register sets the webhook in place of none or of the one that is set.
func (r *Registration) register(ctx context.Context, info telegram.WebhookInfo) time.Duration {
	if err := r.api.SetWebhook(ctx, r.hook); err != nil {
		return r.failed(ctx, "setWebhook", err)
	}
	attrs := []any{"host", WebhookHost(r.hook.URL), "waiting", info.PendingUpdateCount, "was_removed", r.set}
	if info.URL != "" && !SameAddress(info.URL, r.hook.URL) {
		attrs = append(attrs, "in_place_of", WebhookHost(info.URL))
	}
	r.log.InfoContext(ctx, "the webhook is set", attrs...)
	r.set, r.takeOver, r.lastError, r.quiet = true, false, info.LastErrorDate, quietLooks
	r.recovered(ctx)
	return lookEvery
}

// judge tells whether Telegram can deliver. Dates are compared with each other
// alone, for Telegram's clock is not ours.
func (r *Registration) judge(ctx context.Context, info telegram.WebhookInfo) time.Duration {
	r.quiet++
	if info.LastErrorDate.After(r.lastError) {
		r.lastError, r.quiet = info.LastErrorDate, 0
	}
	if info.PendingUpdateCount == 0 || r.quiet >= quietLooks {
		r.recovered(ctx)
		return lookEvery
	}
	r.trouble(ctx, Undelivered, fmt.Sprintf("Telegram cannot deliver to %s, and %d updates wait",
		WebhookHost(r.hook.URL), info.PendingUpdateCount), errors.New(info.LastErrorMessage))
	return lookEvery
}

// foreign reports a webhook that is not ours, and leaves it alone.
func (r *Registration) foreign(ctx context.Context, info telegram.WebhookInfo) time.Duration {
	text := "a webhook at " + WebhookHost(info.URL) + " is set for this bot"
	if r.set {
		text = "somebody has replaced the webhook of this bot by one at " + WebhookHost(info.URL)
	}
	r.trouble(ctx, ForeignWebhook, text, errors.New("remove it with deleteWebhook, or start with --take-over to replace it"))
	return settledWait
}

func (r *Registration) remove(ctx context.Context) (wait time.Duration, last bool) {
	info, err := r.api.WebhookInfo(ctx)
	if err != nil {
		return r.failed(ctx, "getWebhookInfo", err), false
	}
	if info.URL != "" {
		if err := r.api.DeleteWebhook(ctx); err != nil {
			return r.failed(ctx, "deleteWebhook", err), false
		}
		r.log.InfoContext(ctx, "the webhook is removed, to poll: what waits is kept", "host", WebhookHost(info.URL), "waiting", info.PendingUpdateCount)
	}
	r.recovered(ctx)
	return 0, true
}

// failed says how long to wait after a request that failed.
func (r *Registration) failed(ctx context.Context, method string, err error) time.Duration {
	switch telegram.Classify(err, method) {
	case telegram.RateLimited:
		r.trouble(ctx, Limited, method, err)
		return limitedWait(err)
	case telegram.Unauthorized, telegram.NotFound:
		return r.refused(ctx, method, err)
	case telegram.Rejected:
		r.trouble(ctx, Rejected, "Telegram refuses the webhook at "+WebhookHost(r.hook.URL)+", see --webhook-url", err)
		return settledWait
	default:
		return r.trouble(ctx, TelegramAway, method, err)
	}
}

func (r *Registration) refused(ctx context.Context, method string, err error) time.Duration {
	if !tokenRefused(ctx, r.api.Me) {
		return r.trouble(ctx, TelegramAway, method, err)
	}
	r.trouble(ctx, Refused, tokenText, err)
	return settledWait
}

// trouble notes a failure, logs it once for each kind, and returns the backoff.
// Health is told each time: how many updates wait changes.
func (r *Registration) trouble(ctx context.Context, kind Trouble, text string, err error) time.Duration {
	_, wait := r.failing.note(ctx, r.log, kind, text, err)
	if ctx.Err() == nil {
		r.watch.Trouble(kind, fmt.Sprintf("%s: %v", text, err))
	}
	return wait
}

func (r *Registration) recovered(ctx context.Context) {
	if r.failing.end(ctx, r.log) {
		r.watch.Trouble(Fine, "")
	}
}

// SameAddress reports whether two URLs are one address: a server may write what
// it was told in another form.
func SameAddress(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return plain(ua) == plain(ub)
}

// plain writes a URL with a small host, without the port that its scheme has and
// without a lone slash.
func plain(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if scheme == "https" && port == "443" || scheme == "http" && port == "80" {
		port = ""
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port + strings.TrimSuffix(u.RequestURI(), "/")
}

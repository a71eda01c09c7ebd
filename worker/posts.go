package worker

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

const (
	// hookTimeout bounds one request about the webhook.
	hookTimeout = 15 * time.Second
	// unpassedFor is how long health tells of a post that could not be passed on.
	unpassedFor = time.Minute
)

// takePosts stores what is posted to this process, or passed on to it, and keeps
// the webhook set. When ctx ends, posts are passed on at once, and it returns when
// none is being stored any more.
func (t *term) takePosts(ctx context.Context, from *contract.Handover) {
	inbox := t.inbox(t.Temporal) // no pulse: the registration alone promises to be alive
	if !t.knowTails(ctx, inbox, from) {
		return
	}
	t.Webhook.Open(t.ctx, leased{inbox, t.lease}) //nolint:contextcheck // what is being stored when ctx ends is awaited
	defer t.Webhook.Close()
	starter.NewRegistration(hooks{t.Telegram, t}, t.Hook, t.TakeOver, t.watch(), t.Log).Run(ctx)
}

// leased stores only while this process can know that it is on duty: otherwise
// another one may be the author of a chat's order by now.
type leased struct {
	starter.Taker
	lease *activities.Lease
}

// Take stores one posted update.
func (l leased) Take(ctx context.Context, body []byte) error {
	if !l.lease.Fresh(activities.SendLease) {
		return activities.ErrNotOnDuty
	}
	return l.Taker.Take(ctx, body)
}

// hooks is the Bot API of a registration on duty: like a poll, no request leaves
// without a fresh lease, or into a penalty on its method.
type hooks struct {
	*telegram.Client
	term *term
}

func (h hooks) ask(ctx context.Context, method string, request func(context.Context) error) error {
	return h.term.ask(ctx, method, activities.SendLease, func() error {
		bounded, cancel := context.WithTimeout(ctx, hookTimeout)
		defer cancel()
		return request(bounded)
	})
}

// WebhookInfo asks which webhook is set, and how it is.
func (h hooks) WebhookInfo(ctx context.Context) (info telegram.WebhookInfo, err error) {
	err = h.ask(ctx, "getWebhookInfo", func(ctx context.Context) error {
		info, err = h.Client.WebhookInfo(ctx)
		return err
	})
	return info, err
}

// SetWebhook sets it.
func (h hooks) SetWebhook(ctx context.Context, r telegram.WebhookRequest) error {
	return h.ask(ctx, "setWebhook", func(ctx context.Context) error { return h.Client.SetWebhook(ctx, r) })
}

// DeleteWebhook removes it.
func (h hooks) DeleteWebhook(ctx context.Context) error {
	return h.ask(ctx, "deleteWebhook", h.Client.DeleteWebhook)
}

// relaying tells health of posts that cannot be passed on. That nobody is on duty,
// or that Temporal is away, others tell.
type relaying struct {
	starter.Passing
	process *process
}

// Pass passes a post on.
func (r relaying) Pass(ctx context.Context, header http.Header, body []byte) (starter.Passed, error) {
	got, err := r.Passing.Pass(ctx, header, body)
	if errors.Is(err, starter.ErrHolderSilent) && r.process.onDuty() == nil {
		r.process.Health.DegradeUntil(telemetry.PartIntake, "posts cannot be passed on: "+err.Error(), time.Now().Add(unpassedFor))
	}
	return got, err
}

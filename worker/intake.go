package worker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

// startIntake takes updates in the background for as long as the term lasts, by
// polls or by posts. The first of them waits until the tails of the last holder
// are known.
func (t *term) startIntake(from *contract.Handover) {
	ctx, cancel := context.WithCancel(t.ctx)
	t.intake = cancel
	switch {
	case t.Poll:
		t.polling.Go(func() { t.poll(ctx, from) })
	case t.Webhook != nil:
		t.polling.Go(func() { t.takePosts(ctx, from) })
	}
}

func (t *term) poll(ctx context.Context, from *contract.Handover) {
	inbox := t.inbox(pulse{t.Temporal, t.Health})
	if !t.knowTails(ctx, inbox, from) {
		return
	}
	w := t.watch()
	if t.TakeOver {
		starter.NewRegistration(hooks{t.Telegram, t}, telegram.WebhookRequest{}, true, w, t.Log).Remove(ctx)
	}
	starter.NewPoller(source{t.Telegram, t}, inbox, t.AllowedUpdates, w, t.Log).Run(ctx)
}

func (t *term) inbox(c starter.Client) *starter.Inbox {
	return starter.NewInbox(c, starter.Settings{
		BotID: t.Token.BotID(), Handling: t.Handling, MaxAge: t.MaxUpdateAge, Attributes: t.attributes, NewIDs: t.NewIDs,
		Chats: marks{t.chats, t.limiter},
	}, t.tails, t.Metrics, t.Log)
}

func (t *term) watch() *watch {
	return &watch{Health: t.Health, Metrics: t.Metrics, hearing: &t.hearing, refused: func() { t.refuse() }}
}

// knowTails fills the tails, from a clean hand-over or from the open updates. It
// returns false when ctx ends first.
func (t *term) knowTails(ctx context.Context, inbox *starter.Inbox, from *contract.Handover) bool {
	if from != nil && from.Clean && from.Tails != nil {
		t.tails.Restore(from.Tails)
		return true
	}
	for ctx.Err() == nil {
		err := inbox.Rebuild(ctx)
		if err == nil {
			return true
		}
		if ctx.Err() == nil {
			t.Log.WarnContext(ctx, "open updates not listed: trying again", "error", err)
		}
		wait(ctx, time.Second)
	}
	return false
}

// marks take what intake hears of a move to the budget as well.
type marks struct {
	*starter.Chats
	limiter *limiter.Limiter
}

func (m marks) Move(ctx context.Context, from, to int64) {
	m.limiter.Move(from, to)
	m.Chats.Move(ctx, from, to)
}

// source is the Bot API of a poller on duty: no poll starts without a fresh
// lease, or into a penalty on getUpdates, and the road hears how it went.
type source struct {
	*telegram.Client
	term *term
}

const pollMethod = "getUpdates"

func (s source) Updates(ctx context.Context, r telegram.UpdatesRequest) (batch []json.RawMessage, err error) {
	err = s.term.ask(ctx, pollMethod, activities.PollLease, func() error {
		batch, err = s.Client.Updates(ctx, r)
		if ctx.Err() == nil {
			s.term.hearing.note(err)
		}
		return err
	})
	return batch, err
}

// ask makes a request of intake: not without a lease that is fresh enough, nor
// into a penalty on its method.
func (t *term) ask(ctx context.Context, method string, lease time.Duration, request func() error) error {
	if left := time.Until(t.limiter.Until(limiter.Scope{Method: method})); left > 0 {
		return &telegram.Error{
			Method: method, Status: http.StatusTooManyRequests, Code: http.StatusTooManyRequests,
			Description: "the penalty of an earlier request is not over", RetryAfter: left,
		}
	}
	t.Health.AliveUntil(time.Time{}) // without Temporal the wait has no end, and a restart would not help
	if err := t.lease.AwaitFresh(ctx, lease); err != nil {
		return err
	}
	t.Health.AliveUntil(time.Now().Add(stepMost))
	err := request()
	t.Health.AliveUntil(time.Now().Add(stepMost))
	if ctx.Err() == nil {
		t.heard(method, err)
	}
	return err
}

// heard tells the road and the budget what a request of intake ended with.
func (t *term) heard(method string, err error) {
	switch telegram.Classify(err, method) {
	case telegram.Unavailable, telegram.Unknown:
		t.road.PollFailed()
		return
	case telegram.RateLimited:
		if te, ok := errors.AsType[*telegram.Error](err); ok && te.RetryAfter > 0 {
			budget{t.limiter, t.Metrics}.Penalize(0, method, time.Now().Add(te.RetryAfter))
		}
	}
	t.road.Polled()
}

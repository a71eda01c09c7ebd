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

// startIntake polls in the background for as long as the term lasts. The first
// poll waits until the tails of the last holder are known.
func (t *term) startIntake(from *contract.Handover) {
	ctx, cancel := context.WithCancel(t.ctx)
	t.intake = cancel
	if !t.Poll {
		return
	}
	inbox := starter.NewInbox(pulse{t.Temporal, t.Health}, starter.Settings{
		BotID: t.Token.BotID(), Handling: t.Handling, MaxAge: t.MaxUpdateAge, Attributes: t.attributes, NewIDs: t.NewIDs,
		Chats: marks{t.chats, t.limiter},
	}, t.tails, t.Metrics, t.Log)
	w := &watch{Health: t.Health, Metrics: t.Metrics, hearing: &t.hearing, refused: func() { t.refuse() }}
	poller := starter.NewPoller(source{t.Telegram, t}, inbox, t.AllowedUpdates, w, t.Log)
	t.polling.Go(func() {
		if t.knowTails(ctx, inbox, from) {
			poller.Run(ctx)
		}
	})
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

var polls = limiter.Scope{Method: "getUpdates"}

func (s source) Updates(ctx context.Context, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
	if left := time.Until(s.term.limiter.Until(polls)); left > 0 {
		return nil, &telegram.Error{
			Method: polls.Method, Status: http.StatusTooManyRequests, Code: http.StatusTooManyRequests,
			Description: "the penalty of an earlier poll is not over", RetryAfter: left,
		}
	}
	s.term.Health.AliveUntil(time.Time{}) // without Temporal the wait has no end, and a restart would not help
	if err := s.term.lease.AwaitFresh(ctx, activities.PollLease); err != nil {
		return nil, err
	}
	s.term.Health.AliveUntil(time.Now().Add(stepMost))
	batch, err := s.Client.Updates(ctx, r)
	s.term.Health.AliveUntil(time.Now().Add(stepMost))
	if ctx.Err() == nil {
		s.heard(err)
	}
	return batch, err
}

// heard tells the road and the budget what a poll ended with.
func (s source) heard(err error) {
	s.term.hearing.note(err)
	switch telegram.Classify(err, polls.Method) {
	case telegram.Unavailable, telegram.Unknown:
		s.term.road.PollFailed()
		return
	case telegram.RateLimited:
		if te, ok := errors.AsType[*telegram.Error](err); ok && te.RetryAfter > 0 {
			budget{s.term.limiter, s.term.Metrics}.Penalize(0, polls.Method, time.Now().Add(te.RetryAfter))
		}
	}
	s.term.road.Polled()
}

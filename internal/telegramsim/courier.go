package telegramsim

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// idleCourier is how long a courier with nothing to do sleeps at most.
const idleCourier = time.Hour

// courier delivers the queue to one webhook, until another one is set or none. Its
// rules are those of tdlib/telegram-bot-api, WebhookActor.cpp. Its fields are guarded
// by Sim.mu, unless they never change.
type courier struct {
	hook       webhook
	address    string
	client     *http.Client
	wake       chan struct{} // holds one
	stop       chan struct{} // closed when the webhook is gone
	deliveries sync.WaitGroup

	lanes  map[lane][]*outgoing // oldest first; the first is the one that is tried
	loaded int64                // serial of the next update to load
	extra  []*outgoing          // of Redeliver
	conns  connections

	lastSuccess time.Time
	firstGone   time.Time // of the 410s since another answer
	failedAt    time.Time
	failure     string
}

// outgoing is an update the courier has loaded.
type outgoing struct {
	queued
	lane  lane
	extra bool // beside the lane: its answer changes nothing
	open  bool // its delivery has no answer yet
	fails int
	delay time.Duration
	due   time.Time
}

// openWebhook starts deliveries to a webhook, if it is one. Like closeWebhook,
// wakeCourier and step it is called with Sim.mu held.
func (s *Sim) openWebhook(w webhook) {
	address, err := w.address()
	if err != nil {
		return
	}
	s.hook = w
	s.changed()
	select {
	case <-s.done:
		return
	default:
	}
	h := &courier{
		hook: w, address: address.String(), client: s.webhookClient(),
		wake: make(chan struct{}, 1), stop: make(chan struct{}), lanes: map[lane][]*outgoing{},
	}
	s.courier = h
	s.workers.Go(func() { s.runCourier(h) })
}

// closeWebhook cuts the deliveries that are open. Their updates stay queued, even if
// a receiver's 2xx was on its way: the next poll or webhook gets them again.
func (s *Sim) closeWebhook() {
	if s.courier != nil {
		close(s.courier.stop)
	}
	s.courier, s.hook = nil, webhook{}
	s.changed()
}

func (s *Sim) wakeCourier() {
	if s.courier != nil {
		s.courier.nudge()
	}
}

func (h *courier) nudge() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// runCourier delivers until the webhook or the simulator ends, and waits for what it
// started.
func (s *Sim) runCourier(h *courier) {
	ctx, cancel := context.WithCancel(context.Background()) // the webhook's own: no caller waits for it
	defer h.client.CloseIdleConnections()
	defer h.deliveries.Wait()
	defer cancel()
	for !s.over(h) {
		s.mu.Lock()
		wait := s.step(ctx, h, time.Now())
		s.mu.Unlock()
		s.await(h, wait)
	}
}

// await sleeps until there may be something to send.
func (s *Sim) await(h *courier, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.wake:
	case <-h.stop:
	case <-s.done:
	}
}

func (s *Sim) over(h *courier) bool {
	select {
	case <-h.stop:
		return true
	case <-s.done:
		return true
	default:
		return false
	}
}

// step sends whatever may go now, and returns how long nothing more can.
func (s *Sim) step(ctx context.Context, h *courier, now time.Time) time.Duration {
	if s.over(h) || s.revoked || s.loggedOut {
		return idleCourier
	}
	for _, o := range h.extra {
		s.dispatch(ctx, h, o, now)
	}
	h.extra = nil
	h.dropExpired(now)
	wait := s.loadUpdates(h, now)
	need := min(len(h.lanes), h.hook.MaxConnections)
	healthy := now.Sub(h.lastSuccess) <= quietAfter
	wait = min(wait, h.conns.prepare(need, healthy, s.opts.WebhookBackoff, now))
	for len(h.conns.idle) > 0 {
		o := h.next()
		if o == nil {
			break
		}
		if o.due.After(now) {
			return min(wait, o.due.Sub(now))
		}
		h.conns.take()
		s.dispatch(ctx, h, o, now)
	}
	return wait
}

// dispatch starts one delivery.
func (s *Sim) dispatch(ctx context.Context, h *courier, o *outgoing, now time.Time) {
	o.open = true
	d := s.logDelivery(h, o, now)
	h.deliveries.Go(func() {
		s.keep(ctx.Done()) // an update that was delivered is never forgotten: its id would come again
		r := h.post(ctx, o.Raw, s.opts.WebhookTimeout)
		if s.settle(ctx, h, o, d, r) && r.reply != nil {
			s.answered(ctx, r.reply)
		}
		h.nudge()
	})
}

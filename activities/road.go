package activities

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	probeFirst = time.Second
	probeMost  = time.Minute
	// probeTimeout bounds a probe, which is quick wherever there is a road.
	probeTimeout = 10 * time.Second
)

// Road tells an outage of Telegram, or of the way there, from a failure of one
// call. While there is an outage it keeps a gate closed and probes.
type Road struct {
	probe func(context.Context) error
	gate  func(away bool)
	log   *slog.Logger
	lost  chan struct{} // told when an outage begins; holds one

	mu   sync.Mutex
	row  row
	back chan struct{} // closed when the outage ends, nil while there is none
}

// NewRoad returns a Road that is open. Probe is one request that any bot may
// make at any time (getMe). Gate is called in order, with true when an outage
// begins and false when it ends; it must not call the Road.
func NewRoad(probe func(context.Context) error, gate func(away bool), log *slog.Logger) *Road {
	return &Road{probe: probe, gate: gate, log: log, lost: make(chan struct{}, 1)}
}

// Failed tells of a call that the road swallowed: refused, DNS, TLS, reset,
// timeout, 5xx. Chat is 0 for a call without one, and written says whether a byte
// of the request can have left. It reports whether the failure counts against the
// call: only the first in a row does, and those of the same chat that follow
// alone, and none of which nothing was written.
func (r *Road) Failed(chat int64, written bool) (own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back != nil {
		return false
	}
	own = r.row.call(chat, written)
	r.judge()
	return own
}

// PollFailed tells of a getUpdates that the road swallowed. Polls that fail alone
// close nothing: only the poller suffers, and it backs off by itself.
func (r *Road) PollFailed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.back == nil {
		r.row.poll = true
		r.judge()
	}
}

// Succeeded tells of any answer that is the Bot API's own, refusals and 429s
// included. It ends a row, and an outage.
func (r *Road) Succeeded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row = row{}
	if r.back == nil {
		return
	}
	close(r.back)
	r.back = nil
	r.log.Info("Telegram answers again")
	r.gate(false)
}

// Polled tells of a getUpdates that was answered.
func (r *Road) Polled() { r.Succeeded() }

// judge begins an outage if the row is one.
func (r *Road) judge() {
	if !r.row.outage() {
		return
	}
	r.back = make(chan struct{})
	r.log.Warn("Telegram cannot be reached: sending waits")
	r.gate(true)
	select {
	case r.lost <- struct{}{}:
	default:
	}
}

// Run probes during outages until ctx ends, and leaves the gate then as it is.
func (r *Road) Run(ctx context.Context) {
	for {
		select {
		case <-r.lost:
		case <-ctx.Done():
			return
		}
		if back := r.outage(); back != nil {
			r.seek(ctx, back)
		}
	}
}

// outage is what closes at the end of the outage at hand, nil when there is none.
func (r *Road) outage() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.back
}

// seek probes until the outage is over.
func (r *Road) seek(ctx context.Context, back <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-time.After(probeWait(n, jitter())):
		case <-back:
			return
		case <-ctx.Done():
			return
		}
		if r.reached(ctx) {
			r.Succeeded()
			return
		}
	}
}

func (r *Road) reached(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return passage(r.probe(ctx)) == through
}

// probeWait is the wait before probe n (from 0): a second doubling to a minute,
// with up to a quarter of jitter upward.
func probeWait(n int, random float64) time.Duration {
	wait := min(probeMost, probeFirst<<min(n, 6))
	return wait + time.Duration(random*float64(wait)/4)
}

// heard tells the road how a call ended, and reports whether a failure counts
// against the call. Without a road every one does.
func (r *Road) heard(chat int64, err error) (own bool) {
	if r == nil {
		return true
	}
	switch passage(err) {
	case through:
		r.Succeeded()
	case swallowed:
		te, _ := errors.AsType[*telegram.Error](err)
		return r.Failed(chat, te.Written)
	}
	return true
}

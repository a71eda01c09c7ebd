package activities

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

const (
	// SendLease is how old the lease may be when a request leaves. The server
	// gives the duty away 15 s after the last heartbeat that it acknowledged; the
	// rest is for the request to reach Telegram.
	SendLease = 12 * time.Second
	// PollLease is how old it may be when a poll of 10 s leaves: that poll is then
	// over before a successor's first, 15 s after the last heartbeat.
	PollLease = 4 * time.Second
)

// ErrNotOnDuty says that nothing was written: this process cannot know that it
// is still the one that may talk to Telegram.
var ErrNotOnDuty = errors.New("not on duty")

// Lease is the right to start requests. It runs out by itself, so that a process
// that was frozen, or is cut off from Temporal, starts none when another may have
// the duty.
type Lease struct {
	wall func() time.Time // goes on while the machine sleeps, other than the monotonic clock

	mu      sync.Mutex
	sent    time.Time // of the last heartbeat that was acknowledged
	ended   bool
	changed chan struct{} // closed at the next renewal, or the end
}

// NewLease returns a Lease that was never renewed.
func NewLease() *Lease {
	return &Lease{wall: time.Now, changed: make(chan struct{})}
}

// Renew tells of an acknowledged heartbeat and of when it was sent. An older one
// than the last changes nothing, and the end stands.
func (l *Lease) Renew(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !sent.After(l.sent) {
		return
	}
	l.sent = sent
	l.wake()
}

// End ends the lease for good.
func (l *Lease) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wake()
}

func (l *Lease) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Fresh reports whether the last renewal was sent less than within ago, by the
// monotonic clock and by the wall clock.
func (l *Lease) Fresh(within time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh(within)
}

func (l *Lease) fresh(within time.Duration) bool {
	age := max(time.Since(l.sent), l.wall().Round(0).Sub(l.sent.Round(0)))
	return !l.ended && age < within
}

// AwaitFresh waits until the lease is fresh. It returns ErrNotOnDuty when the
// lease has ended, and the error of ctx.
func (l *Lease) AwaitFresh(ctx context.Context, within time.Duration) error {
	for {
		l.mu.Lock()
		fresh, ended, changed := l.fresh(within), l.ended, l.changed
		l.mu.Unlock()
		switch {
		case ended:
			return ErrNotOnDuty
		case fresh:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Guard returns api with the lease in front: without a fresh one it answers
// ErrNotOnDuty and makes no request. One that is in the air when the lease runs
// out is worth its answer and goes on.
func (l *Lease) Guard(api API) API { return guarded{l, api} }

type guarded struct {
	lease *Lease
	api   API
}

func (g guarded) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if !g.lease.Fresh(SendLease) {
		return nil, ErrNotOnDuty
	}
	return g.api.Call(ctx, method, params)
}

package starter

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	// storeTimeout is what storing one update may take, the wait for those of its
	// chat included. Telegram waits for 60 s.
	storeTimeout = 10 * time.Second
	// closeGrace is for what is being stored when the desk closes. What is cut off
	// comes again.
	closeGrace = 3 * time.Second
)

// Taker stores one posted update. An error makes Telegram come again; ErrBusy
// says that nothing is wrong.
type Taker interface {
	Take(ctx context.Context, body []byte) error
}

// Passing passes a post on to the process on duty.
type Passing interface {
	// Pass returns what was answered. The error is that of a post which nobody
	// answered.
	Pass(ctx context.Context, header http.Header, body []byte) (Passed, error)
}

// Passed is what the process on duty answered.
type Passed struct {
	// Status is the HTTP status; 200 says that the update is stored.
	Status int
	// RetryAfter is the header of that name, "" for none.
	RetryAfter string
}

// desk is where posts are stored while it is open, and passed on otherwise.
type desk struct {
	mu      sync.Mutex
	open    *opening
	passing Passing
}

// opening is a time in which posts are stored here.
type opening struct {
	inbox Taker
	air   context.Context //nolint:containedctx // the life of what is being stored, beyond that of the connection which brought it
	cut   context.CancelFunc
	group sync.WaitGroup
}

// Open has posts stored in the inbox from now on: this process is on duty, and
// knows the tails. What is being stored when ctx ends is cut off.
func (h *Webhook) Open(ctx context.Context, inbox Taker) {
	air, cut := context.WithCancel(ctx)
	h.desk.set(&opening{inbox: inbox, air: air, cut: cut})
}

// Close has posts passed on from now on, and returns when none is being stored
// any more. What takes longer than 3 s is cut off and comes again.
func (h *Webhook) Close() {
	o := h.desk.set(nil)
	if o == nil {
		return
	}
	timer := time.AfterFunc(closeGrace, o.cut)
	defer timer.Stop()
	o.group.Wait()
	o.cut()
}

// PassTo says how a post is passed on while this process is not on duty.
func (h *Webhook) PassTo(passing Passing) {
	h.desk.mu.Lock()
	defer h.desk.mu.Unlock()
	h.desk.passing = passing
}

// set returns what was there before.
func (d *desk) set(o *opening) (before *opening) {
	d.mu.Lock()
	defer d.mu.Unlock()
	before, d.open = d.open, o
	return before
}

// enter keeps the desk from closing until leave is called. It returns nil when
// it is closed.
func (d *desk) enter() (o *opening, leave func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		return nil, nil
	}
	d.open.group.Add(1)
	return d.open, d.open.group.Done
}

func (d *desk) others() Passing {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passing
}

// store stores a post in the time of the opening and not of the connection: a
// start that is cut off may have happened, and the next update of the chat would
// not wait for it.
func (h *Webhook) store(r *http.Request, o *opening, body []byte) answer {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTimeout)
	defer cancel()
	defer context.AfterFunc(o.air, cancel)() //nolint:contextcheck // the end of the opening ends it, and not that of the request
	err := o.inbox.Take(ctx, body)
	if errors.Is(err, ErrBusy) {
		return again(PostBusy)
	}
	h.storing.note(ctx, err)
	if err != nil {
		return again(PostFailed)
	}
	return answer{what: PostStored, code: http.StatusOK}
}

// passOn answers with what the process on duty answered.
func (h *Webhook) passOn(r *http.Request, body []byte) answer {
	others := h.desk.others()
	if others == nil {
		return again(PostFailed)
	}
	ctx := context.WithoutCancel(r.Context())
	got, err := others.Pass(ctx, r.Header, body)
	h.passing.note(ctx, err)
	switch {
	case err != nil:
		return again(PostFailed)
	case got.Status == http.StatusOK:
		return answer{what: PostPassed, code: got.Status}
	}
	return answer{what: PostFailed, code: got.Status, retryAfter: got.RetryAfter}
}

// spell is a time in which something fails. It is told once, and so is its end.
type spell struct {
	log  *slog.Logger
	what string

	mu    sync.Mutex
	since time.Time // zero while all is well
}

func (s *spell) note(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && s.since.IsZero():
		s.since = time.Now()
		s.log.WarnContext(ctx, "posts fail, and Telegram comes again with them", "step", s.what, "error", err)
	case err == nil && !s.since.IsZero():
		s.log.InfoContext(ctx, "posts do not fail any more", "step", s.what, "after", time.Since(s.since).Round(time.Second).String())
		s.since = time.Time{}
	}
}

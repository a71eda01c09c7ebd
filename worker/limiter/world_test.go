package limiter_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// world is a limiter in virtual time, with a log of what was granted.
type world struct {
	*limiter.Limiter
	t     *testing.T
	start time.Time

	mu       sync.Mutex
	sends    []*send
	events   []event
	moves    map[int64]int64
	held     map[string]struct{}
	ended    []limiter.Request // without a grant
	faults   []error
	instants int
	callers  sync.WaitGroup
}

// send is one granted request as an observer at Telegram's door would see it.
type send struct {
	limiter.Request
	at, answered time.Duration // since the start; answered is -1 in the air
	lost         bool          // in the air at a hand-over
}

// inWorld runs body in a bubble of virtual time.
func inWorld(t *testing.T, cfg limiter.Config, body func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			Limiter: limiter.New(cfg), t: t, start: time.Now(),
			moves: map[int64]int64{}, held: map[string]struct{}{},
		}
		body(t, w)
		w.callers.Wait()
	})
}

func (w *world) now() time.Duration { return time.Since(w.start) }

// pass lets virtual time go by.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// message is a normal call of one item.
func message(chat int64) limiter.Request {
	return limiter.Request{Chat: chat, Method: "sendMessage", Items: 1, Class: limiter.Normal, Counts: true}
}

func (w *world) log(req limiter.Request) *send {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &send{Request: req, at: w.now(), answered: -1}
	w.sends = append(w.sends, s)
	w.note(event{what: granted, send: s})
	return s
}

func (w *world) end(s *send) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.lost {
		return
	}
	s.answered = w.now()
	w.note(event{what: answered, send: s})
}

// forget drops a send that was cancelled.
func (w *world) forget(gone *send) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(event{what: cancelled, send: gone})
	w.sends = slices.DeleteFunc(w.sends, func(s *send) bool { return s == gone })
}

// acquire waits for a grant that must come and logs it.
func (w *world) acquire(req limiter.Request) (*limiter.Grant, *send) {
	w.t.Helper()
	g, err := w.Acquire(w.t.Context(), req)
	require.NoError(w.t, err)
	return g, w.log(req)
}

// deliver sends at once with an instant answer and returns when it was granted.
func (w *world) deliver(req limiter.Request) time.Duration {
	w.t.Helper()
	g, s := w.acquire(req)
	w.end(s)
	g.Done()
	return s.at
}

// paced asks for a grant that must be refused and returns the delay told.
func (w *world) paced(req limiter.Request) time.Duration {
	w.t.Helper()
	g, err := w.Acquire(w.t.Context(), req)
	require.Nil(w.t, g)
	var paced *limiter.Paced
	require.ErrorAs(w.t, err, &paced)
	require.ErrorContains(w.t, err, paced.Delay.String())
	return paced.Delay
}

func (w *world) penalize(scope limiter.Scope, d time.Duration) {
	w.mu.Lock()
	w.note(event{what: refused, scope: scope, until: w.now() + d})
	w.mu.Unlock()
	w.current().Penalize(scope, time.Now().Add(d))
}

// persist acquires like an activity does: told to come back, it comes back, and it
// follows a chat that has moved. It returns a nil grant when the call has ended.
func (w *world) persist(ctx context.Context, req limiter.Request, tardy time.Duration) (*limiter.Grant, *send) {
	for {
		g, err := w.current().Acquire(ctx, req)
		w.tell(req, err)
		var paced *limiter.Paced
		var gone *limiter.Moved
		switch {
		case err == nil:
			return g, w.log(req)
		case errors.As(err, &paced):
			<-time.After(paced.Delay + tardy)
		case errors.As(err, &gone):
			req.Chat = gone.To
		default:
			w.lose(req, err)
			return nil, nil
		}
	}
}

func (w *world) tell(req limiter.Request, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.note(event{what: told, send: &send{Request: req}, err: err})
	}
}

// lose notes that a call has ended without a grant.
func (w *world) lose(req limiter.Request, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, req)
	switch {
	case errors.Is(err, limiter.ErrSuperseded) && req.Edits != "":
	case errors.Is(err, limiter.ErrDropped) && req.Transient, errors.Is(err, context.DeadlineExceeded):
	default:
		w.faults = append(w.faults, err)
	}
}

// spawn sends in the background, answered after latency; it returns once the call
// stands in line.
func (w *world) spawn(req limiter.Request, latency time.Duration) {
	ctx := w.t.Context()
	if req.Since.IsZero() {
		req.Since = time.Now()
	}
	w.callers.Go(func() {
		g, s := w.persist(ctx, req, 0)
		if g == nil {
			return // the test has failed
		}
		<-time.After(latency)
		w.end(s)
		g.Done()
	})
	synctest.Wait()
}

// times lists when calls to chat were granted.
func (w *world) times(chat int64) []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var at []time.Duration
	for _, s := range w.sends {
		if s.Chat == chat {
			at = append(at, s.at)
		}
	}
	return at
}

// count returns how many calls were granted so far.
func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.sends)
}

// chatsOnly switches the bot's limits off, botOnly those of the chats.
func chatsOnly() limiter.Config {
	cfg := limiter.DefaultConfig()
	cfg.GlobalPerSecond, cfg.PaidPerSecond, cfg.InFlight = 0, 0, 0
	return cfg
}

func botOnly() limiter.Config {
	cfg := limiter.DefaultConfig()
	cfg.ChatPerSecond, cfg.GroupPerMinute = 0, 0
	return cfg
}

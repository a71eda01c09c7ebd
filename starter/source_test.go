package starter_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

// asked is one request the source saw.
type asked struct {
	at     time.Time
	method string
	req    telegram.UpdatesRequest
}

// source is a scripted Telegram. What is not scripted polls in vain.
type source struct {
	mu    sync.Mutex
	asked []asked

	updates func(ctx context.Context, n int, r telegram.UpdatesRequest) ([]json.RawMessage, error)
	me      func() error
	webhook func() (telegram.WebhookInfo, error)
}

func (s *source) Updates(ctx context.Context, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
	n := s.note("getUpdates", r)
	if s.updates != nil {
		return s.updates(ctx, n, r)
	}
	return emptyPoll(ctx, r)
}

func (s *source) Me(context.Context) (telegram.User, error) {
	s.note("getMe", telegram.UpdatesRequest{})
	if s.me != nil {
		return telegram.User{}, s.me()
	}
	return telegram.User{ID: bot}, nil
}

func (s *source) WebhookInfo(context.Context) (telegram.WebhookInfo, error) {
	s.note("getWebhookInfo", telegram.UpdatesRequest{})
	return s.webhook()
}

// note returns how many requests of the method there were before.
func (s *source) note(method string, r telegram.UpdatesRequest) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, a := range s.asked {
		if a.method == method {
			n++
		}
	}
	s.asked = append(s.asked, asked{time.Now(), method, r})
	return n
}

func (s *source) of(method string) []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []asked
	for _, a := range s.asked {
		if a.method == method {
			all = append(all, a)
		}
	}
	return all
}

// emptyPoll is a poll during which nothing happens.
func emptyPoll(ctx context.Context, r telegram.UpdatesRequest) ([]json.RawMessage, error) {
	select {
	case <-time.After(r.Timeout):
		return []json.RawMessage{}, nil
	case <-ctx.Done():
		return nil, &telegram.Error{Method: "getUpdates", Written: true, Err: ctx.Err()}
	}
}

// storeFunc is a Store.
type storeFunc func(ctx context.Context, batch []json.RawMessage, offset int64) (int64, error)

func (f storeFunc) Store(ctx context.Context, batch []json.RawMessage, offset int64) (int64, error) {
	return f(ctx, batch, offset)
}

// takesAll stores every batch; its updates are numbered from the offset up.
func takesAll(_ context.Context, batch []json.RawMessage, offset int64) (int64, error) {
	return offset + int64(len(batch)), nil
}

// watch remembers what health is told.
type watch struct {
	mu       sync.Mutex
	polled   int
	alive    time.Time
	broken   time.Duration // by how much a promise was broken, at most
	troubles []starter.Trouble
	texts    []string
}

func (w *watch) Polled() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polled++
}

func (w *watch) Alive(until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.alive.IsZero() {
		w.broken = max(w.broken, time.Since(w.alive))
	}
	w.alive = until
}

func (w *watch) Trouble(kind starter.Trouble, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.troubles, w.texts = append(w.troubles, kind), append(w.texts, text)
}

func (w *watch) told() []starter.Trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]starter.Trouble(nil), w.troubles...)
}

// text is what health was told with the trouble of that number.
func (w *watch) text(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.texts[n]
}

// promise is until when the poller promised to be alive, and by how much it
// broke one.
func (w *watch) promise() (time.Time, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alive, w.broken
}

func (w *watch) polls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.polled
}

// polling is a poller that runs inside a synctest bubble.
type polling struct {
	*source
	watch *watch
	log   *lines
	stop  context.CancelFunc
	ended chan time.Time
}

func poll(t *testing.T, s *source, store storeFunc) *polling {
	t.Helper()
	p := &polling{source: s, watch: &watch{}, log: &lines{}, ended: make(chan time.Time, 1)}
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	poller := starter.NewPoller(s, store, []string{"message"}, p.watch, slog.New(slog.NewTextHandler(p.log, nil)))
	go func() {
		poller.Run(ctx)
		p.ended <- time.Now()
	}()
	t.Cleanup(stop)
	return p
}

// halt stops the poller and returns how long that took.
func (p *polling) halt() time.Duration {
	begun := time.Now()
	p.stop()
	return (<-p.ended).Sub(begun)
}

// elapse lets time pass in the bubble.
func elapse(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func refusal(code int, description string) *telegram.Error {
	return &telegram.Error{Method: "getUpdates", Status: code, Code: code, Description: description, Written: true}
}

var (
	errRival        = refusal(http.StatusConflict, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
	errWebhook      = refusal(http.StatusConflict, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	errUnauthorized = refusal(http.StatusUnauthorized, "Unauthorized")
	errNotFound     = refusal(http.StatusNotFound, "Not Found")
	errHTML         = &telegram.Error{Method: "getUpdates", Status: http.StatusBadGateway, Written: true, Err: telegram.ErrNotAnswer}
	errTimeout      = &telegram.Error{Method: "getUpdates", Written: true, Err: context.DeadlineExceeded}
	errRefused      = &telegram.Error{Method: "getUpdates"}
)

func limited(after time.Duration) *telegram.Error {
	e := refusal(http.StatusTooManyRequests, "Too Many Requests")
	e.RetryAfter = after
	return e
}

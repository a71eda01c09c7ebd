package worker_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/worker"
)

const (
	quietAnswer  = `{"ok":true,"result":[]}`
	rivalAnswer  = `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`
	brokenAnswer = `<html>502 Bad Gateway</html>`
)

// airs are how long a poll waits for these.
var airs = map[string]time.Duration{quietAnswer: 10 * time.Second, rivalAnswer: 2 * time.Second}

// api is a Telegram without a network, for bubbles. Poll n (from 0) is answered
// with what polls says.
type api struct {
	polls func(n int) (code int, body string)

	mu    sync.Mutex
	asked int
}

func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	n := a.asked
	a.asked++
	a.mu.Unlock()
	code, body := a.polls(n)
	return inTime(r, code, body)
}

// inTime answers a request when its answer would be there.
func inTime(r *http.Request, code int, body string) (*http.Response, error) {
	if d := airs[body]; d > 0 {
		select {
		case <-time.After(d): // of a bubble
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// newTelegram is the Bot API over a transport.
func newTelegram(t *testing.T, transport http.RoundTripper) *telegram.Client {
	t.Helper()
	token, err := telegram.ParseToken("123456:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi")
	require.NoError(t, err)
	tg, err := telegram.New(telegram.Options{Token: token, BaseURL: "http://telegram.example", Transport: transport})
	require.NoError(t, err)
	return tg
}

// polled is how many polls there were.
func (a *api) polled() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked
}

// listening is a process on duty that polls a, for as long as its lease is
// renewed.
func listening(t *testing.T, a *api, lease context.Context) (worker.Process, worker.Term) { //nolint:revive // not this function's context
	t.Helper()
	var log journal
	p, _ := newProcess(t, &server{holder: "1@here@"}, &log, nil)
	term := p.NewTerm(nil, func(context.Context) {}, func() {})
	renew(lease, term)
	term.Listen(newTelegram(t, a))
	return p, term
}

// renew renews the lease of a term until ctx ends.
func renew(ctx context.Context, term worker.Term) {
	term.Lease().Renew(time.Now())
	go func() {
		for {
			select {
			case <-time.After(3 * time.Second): // of a bubble
				term.Lease().Renew(time.Now())
			case <-ctx.Done():
				return
			}
		}
	}()
}

// each second of a time of a bubble looks at the process's health.
func each(p worker.Process, d time.Duration, look func(at time.Duration, alive, ready bool, text string)) {
	for at := time.Second; at <= d; at += time.Second {
		time.Sleep(time.Second)
		ready, text := p.Health.Ready()
		look(at, p.Health.Alive(), ready, text)
	}
}

func TestAQuietBotIsHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{polls: func(int) (int, string) { return http.StatusOK, quietAnswer }}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		each(p, 3*time.Hour, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive && ready && text == "ready\n", "%v: %s", at, text)
		})
		require.InDelta(t, 3*360, a.polled(), 10, "health asks Telegram for nothing")
		stop()
		term.End()
	})
}

func TestAConflictThatLastsIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{polls: func(int) (int, string) { return http.StatusConflict, rivalAnswer }}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		time.Sleep(2 * time.Second) // of a bubble: the first poll
		each(p, 30*time.Minute, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive && !ready, "%v: %s", at, text)
			require.Contains(t, text, "intake: conflict: another process polls with this bot token")
		})
		stop()
		term.End()
	})
}

func TestAPollWonNowAndThenIsNoHealth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{polls: func(n int) (int, string) {
			if n%20 == 19 && n < 400 || n >= 500 {
				return http.StatusOK, quietAnswer
			}
			return http.StatusConflict, rivalAnswer
		}}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		degraded := false
		time.Sleep(2 * time.Second) // of a bubble: the first poll
		each(p, 30*time.Minute, func(at time.Duration, alive, _ bool, text string) {
			require.True(t, alive)
			require.NotEqual(t, "ready\n", text, "%v: 19 of 20 polls fail", at)
			degraded = degraded || strings.Contains(text, "intake: 19 of the last 20 polls failed, the last one that did: ") &&
				strings.Contains(text, "terminated by other getUpdates request")
		})
		require.True(t, degraded, "after a poll that was won")
		time.Sleep(3 * time.Hour) // of a bubble
		_, text := p.Health.Ready()
		require.Equal(t, "ready\n", text, "it is over")
		stop()
		term.End()
	})
}

func TestTenMinutesOf502AreNoReasonToRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a := &api{polls: func(int) (int, string) {
			if time.Since(began) < 10*time.Minute {
				return http.StatusBadGateway, brokenAnswer
			}
			return http.StatusOK, quietAnswer
		}}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		each(p, 10*time.Minute-time.Second, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive && ready, "%v: %s", at, text)
			require.True(t, strings.HasPrefix(text, "degraded\nintake: "), text)
		})
		time.Sleep(time.Minute + 45*time.Second) // of a bubble: a backoff and three polls
		_, text := p.Health.Ready()
		require.Equal(t, "ready\n", text)
		stop()
		term.End()
	})
}

func TestWithoutTemporalTheProcessIsAliveAndNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &api{polls: func(int) (int, string) { return http.StatusOK, quietAnswer }}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		p.Options.Temporal.(*server).health = func() error { return errors.New("connection refused") }
		watching, enough := context.WithCancel(t.Context())
		p.Watch(watching)
		stop() // no heartbeat reaches the server any more
		time.Sleep(5 * time.Second)
		each(p, time.Hour, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive, "%v: a restart would not help", at)
			require.False(t, ready, text)
			require.Contains(t, text, "temporal: Temporal does not answer")
		})
		enough()
		term.End()
	})
}

func TestAPollerThatIsStuckShowsWithinNinetySeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a := &api{polls: func(n int) (int, string) {
			if n == 10 {
				<-release // whatever its context says
			}
			return http.StatusOK, quietAnswer
		}}
		lease, stop := context.WithCancel(t.Context())
		p, term := listening(t, a, lease)
		time.Sleep(105 * time.Second) // of a bubble: it has been stuck for five
		require.True(t, p.Health.Alive())
		time.Sleep(85 * time.Second)
		require.False(t, p.Health.Alive())
		close(release)
		time.Sleep(time.Second)
		require.True(t, p.Health.Alive())
		stop()
		term.End()
		require.True(t, p.Health.Alive(), "what is off duty promises nothing")
	})
}

// slow is a Temporal whose requests take almost a minute each.
type (
	listRequest  = workflowservice.ListWorkflowExecutionsRequest
	listResponse = workflowservice.ListWorkflowExecutionsResponse
)

type slow struct{ *server }

func (s slow) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, w any, args ...any) (client.WorkflowRun, error) {
	time.Sleep(59 * time.Second) // of a bubble
	return s.server.ExecuteWorkflow(ctx, o, w, args...)
}

func (s slow) ListWorkflow(context.Context, *listRequest) (*listResponse, error) { return nil, nil } //nolint:nilnil // not asked for

func TestABatchThatIsStoredSlowlyIsNotStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := ready()
		c := worker.Pulse(slow{&server{}}, h)
		h.AliveUntil(time.Now().Add(time.Minute))
		for range 10 {
			_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{}, "")
			require.NoError(t, err)
			require.True(t, h.Alive())
		}
		time.Sleep(90 * time.Second)
		require.False(t, h.Alive())
		_, err := c.DescribeWorkflowExecution(t.Context(), "", "")
		require.NoError(t, err)
		require.True(t, h.Alive())
	})
}

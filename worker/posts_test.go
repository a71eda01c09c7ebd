package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker"
)

const (
	ourHook = "https://bot.example.org/SECRET-path"
	okTrue  = `{"ok":true,"result":true}`
)

// hookAPI is a Telegram without a network that knows a webhook.
type hookAPI struct {
	mu     sync.Mutex
	url    string
	asked  []string
	answer map[string]string // by method, in place of the usual one
	hold   chan struct{}     // nil, or what a request waits for, whatever its context says
}

func (a *hookAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	hold := a.hold
	a.mu.Unlock()
	if hold != nil {
		<-hold
	}
	code, body := a.take(path.Base(r.URL.Path))
	return inTime(r, code, body)
}

func (a *hookAPI) take(method string) (code int, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, method)
	if body := a.answer[method]; body != "" {
		return http.StatusBadRequest, body
	}
	switch method {
	case "setWebhook":
		a.url = ourHook
	case "deleteWebhook":
		a.url = ""
	case "getWebhookInfo":
		return http.StatusOK, fmt.Sprintf(`{"ok":true,"result":{"url":%q,"pending_update_count":0}}`, a.url)
	case "getUpdates":
		return http.StatusOK, quietAnswer
	}
	return http.StatusOK, okTrue
}

func (a *hookAPI) methods() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string{}, a.asked...)
}

func (a *hookAPI) count(method string) (n int) {
	for _, m := range a.methods() {
		if m == method {
			n++
		}
	}
	return n
}

// posting is a process in a bubble whose updates are posted.
type posting struct {
	worker.Process
	term   worker.Term
	server *server
	posts  *starter.Webhook
	stop   context.CancelFunc // ends the renewals of its lease
}

// onDutyByPosts puts one on duty.
func onDutyByPosts(t *testing.T, s client.Client, a *hookAPI) *posting {
	t.Helper()
	var log journal
	p := &posting{server: &server{}}
	p.Process, _ = newProcess(t, p.server, &log, nil)
	if s != nil {
		p.Options.Temporal = s
	}
	p.Options.Hook = telegram.WebhookRequest{URL: ourHook, Secret: "s"}
	p.posts = starter.NewWebhook([]string{"s"}, p.Metrics, silent)
	p.term = p.NewTerm(nil, func(context.Context) {}, func() {})
	ctx, stop := context.WithCancel(t.Context())
	p.stop = stop
	renew(ctx, p.term)
	p.term.TakePosts(newTelegram(t, a), p.posts)
	synctest.Wait()
	return p
}

func (p *posting) post(body string) int {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, starter.WebhookPath, strings.NewReader(body)) // it ends by itself
	r.Header.Set(telegram.SecretHeader, "s")
	w := httptest.NewRecorder()
	p.posts.ServeHTTP(w, r)
	return w.Code
}

func TestPostsAreStoredForAsLongAsTheProcessIsOnDuty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{}
		p := onDutyByPosts(t, nil, a)
		require.Equal(t, []string{"getWebhookInfo", "setWebhook"}, a.methods())
		require.Equal(t, http.StatusOK, p.post(`{"update_id":1}`))
		require.Equal(t, 1, p.server.started)
		p.term.End()
		require.Equal(t, http.StatusServiceUnavailable, p.post(`{"update_id":2}`))
		require.Equal(t, 1, p.server.started)
		require.Zero(t, a.count("deleteWebhook"))
		p.stop()
	})
}

func TestWithoutAFreshLeaseNothingIsStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := onDutyByPosts(t, nil, &hookAPI{})
		p.stop()
		time.Sleep(11 * time.Second)
		require.Equal(t, http.StatusOK, p.post(`{"update_id":1}`))
		time.Sleep(4 * time.Second)
		require.Equal(t, http.StatusServiceUnavailable, p.post(`{"update_id":2}`), "another may be on duty")
		require.Equal(t, 1, p.server.started)
		p.term.End()
	})
}

func TestAWebhookThatIsWellIsHealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{}
		p := onDutyByPosts(t, nil, a)
		each(p.Process, 3*time.Hour, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive && ready && text == "ready\n", "%v: %s", at, text)
			if at%(7*time.Second) == 0 {
				require.Equal(t, http.StatusOK, p.post(`{"update_id":1}`))
			}
		})
		require.InDelta(t, 180, a.count("getWebhookInfo"), 3)
		require.Zero(t, a.count("getUpdates"))
		p.stop()
		p.term.End()
	})
}

func TestARegistrationThatIsStuckShowsAlthoughPostsCome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{}
		p := onDutyByPosts(t, nil, a)
		time.Sleep(30 * time.Second)
		a.mu.Lock()
		a.hold = make(chan struct{})
		a.mu.Unlock()
		each(p.Process, 3*time.Minute, func(at time.Duration, alive, _ bool, _ string) {
			require.Equal(t, http.StatusOK, p.post(`{"update_id":1}`))
			if at > 2*time.Minute+time.Second {
				require.False(t, alive, "%v: nobody would notice a webhook that is gone", at)
			}
		})
		a.mu.Lock()
		close(a.hold)
		a.hold = nil
		a.mu.Unlock()
		time.Sleep(2 * time.Minute)
		require.True(t, p.Health.Alive())
		p.stop()
		p.term.End()
	})
}

func TestAForeignWebhookIsNotReadyAndOnlyItsHostIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{url: "https://other.example.com/THEIR-path"}
		p := onDutyByPosts(t, nil, a)
		each(p.Process, 10*time.Minute, func(at time.Duration, alive, ready bool, text string) {
			require.True(t, alive && !ready, "%v: %s", at, text)
			require.Contains(t, text, "intake: webhook: a webhook at other.example.com is set for this bot")
			require.NotContains(t, text, "THEIR")
		})
		require.Zero(t, a.count("setWebhook"))
		require.Equal(t, http.StatusOK, p.post(`{"update_id":1}`), "what is posted all the same is stored")
		p.stop()
		p.term.End()
	})
}

func TestWithoutTemporalAProcessWithAWebhookIsAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{}
		p := onDutyByPosts(t, nil, a)
		p.stop() // no heartbeat reaches the server any more
		time.Sleep(time.Minute)
		asked := len(a.methods())
		each(p.Process, time.Hour, func(at time.Duration, alive, _ bool, _ string) {
			require.True(t, alive, "%v: a restart would not help", at)
		})
		require.Len(t, a.methods(), asked, "and nothing is asked of Telegram")
		p.term.End()
	})
}

func TestAPenaltyOnSetWebhookIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &hookAPI{answer: map[string]string{
			"setWebhook": `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 600","parameters":{"retry_after":600}}`,
		}}
		p := onDutyByPosts(t, nil, a)
		time.Sleep(9 * time.Minute)
		require.Equal(t, 1, a.count("setWebhook"))
		ready, text := p.Health.Ready()
		require.True(t, ready)
		require.Contains(t, text, "intake: setWebhook")
		a.mu.Lock()
		a.answer = nil
		a.mu.Unlock()
		time.Sleep(2 * time.Minute)
		require.Equal(t, 2, a.count("setWebhook"))
		_, text = p.Health.Ready()
		require.Equal(t, "ready\n", text)
		p.stop()
		p.term.End()
	})
}

// storing is a Temporal that takes a while to start a workflow.
type storing struct {
	*server
	takes time.Duration
}

func (s storing) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, w any, args ...any) (client.WorkflowRun, error) {
	select {
	case <-time.After(s.takes): // of a bubble
		return s.server.ExecuteWorkflow(ctx, o, w, args...)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestATermEndsWhenNothingIsBeingStoredAndTakesNothingMeanwhile(t *testing.T) {
	t.Parallel()
	for takes, want := range map[time.Duration]int{2 * time.Second: http.StatusOK, time.Hour: http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			p := onDutyByPosts(t, storing{&server{}, takes}, &hookAPI{})
			codes := make(chan int, 1)
			go func() { codes <- p.post(`{"update_id":1}`) }()
			synctest.Wait()
			ended := make(chan time.Time, 1)
			began := time.Now()
			go func() {
				p.term.End()
				ended <- time.Now()
			}()
			time.Sleep(time.Second)
			require.Equal(t, http.StatusServiceUnavailable, p.post(`{"update_id":2}`), "within a second")
			require.Empty(t, ended)
			require.Equal(t, want, <-codes)
			require.Less(t, (<-ended).Sub(began), 5*time.Second)
			p.stop()
		})
	}
}

func TestToTakeOverEveryWebhookIsRemovedBeforeTheFirstPoll(t *testing.T) {
	t.Parallel()
	for takeOver, want := range map[bool][]string{
		true: {"getWebhookInfo", "deleteWebhook", "getUpdates"}, false: {"getUpdates"},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &hookAPI{url: "https://other.example.com/THEIR-path"}
			var log journal
			p, _ := newProcess(t, &server{}, &log, nil)
			p.TakeOver = takeOver
			term := p.NewTerm(nil, func(context.Context) {}, func() {})
			ctx, stop := context.WithCancel(t.Context())
			renew(ctx, term)
			term.Listen(newTelegram(t, a))
			synctest.Wait()
			require.Equal(t, want, a.methods())
			stop()
			term.End()
		})
	}
}

// passing is a way to pass posts on.
type passing func() error

func (p passing) Pass(context.Context, http.Header, []byte) (starter.Passed, error) {
	return starter.Passed{Status: http.StatusOK}, p()
}

func TestAPostThatCannotBePassedOnShowsInHealthForAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log journal
		p, _ := newProcess(t, &server{}, &log, nil)
		var fails error
		relay := p.Relaying(passing(func() error { return fails }))
		pass := func(err error) string {
			fails = err
			_, got := relay.Pass(t.Context(), nil, nil)
			require.Equal(t, err, got)
			_, text := p.Health.Ready()
			return text
		}
		require.Equal(t, "ready\n", pass(nil))
		require.Equal(t, "ready\n", pass(starter.ErrNoHolder), "others tell of that")
		text := pass(fmt.Errorf("%w: %w", starter.ErrHolderSilent, errors.New("connection refused")))
		require.Equal(t, "degraded\nintake: posts cannot be passed on: the process on duty does not answer at the address that it tells, "+
			"see --advertise: connection refused\n", text)
		time.Sleep(time.Minute)
		_, text = p.Health.Ready()
		require.Equal(t, "ready\n", text)
	})
}

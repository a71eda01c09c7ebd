package starter_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

const postSecret = "new_SECRET-1"

// taker is an inbox that takes what is posted.
type taker struct {
	mu     sync.Mutex
	bodies []string
	take   func(ctx context.Context) error // nil takes all
}

func (k *taker) Take(ctx context.Context, body []byte) error {
	if k.take != nil {
		if err := k.take(ctx); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bodies = append(k.bodies, string(body))
	return nil
}

func (k *taker) took() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.bodies...)
}

// answers counts what became of posts.
type answers struct {
	mu  sync.Mutex
	all map[starter.PostAnswer]int
}

func (a *answers) Posted(answer starter.PostAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[starter.PostAnswer]int{}
	}
	a.all[answer]++
}

func (a *answers) of(answer starter.PostAnswer) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.all[answer]
}

// receiver is a webhook over fakes.
type receiver struct {
	*starter.Webhook
	taker  *taker
	counts *answers
	log    *lines
}

// receive returns one that is on duty.
func receive(t *testing.T) *receiver {
	t.Helper()
	r := standBy()
	r.Open(t.Context(), r.taker)
	return r
}

func standBy() *receiver {
	r := &receiver{taker: &taker{}, counts: &answers{}, log: &lines{}}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.Webhook = starter.NewWebhook([]string{postSecret, "old_SECRET-0"}, r.counts, logger)
	return r
}

// posted is a post with the secret.
func posted(body io.Reader) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, starter.WebhookPath, body) // a request ends by itself
	r.Header.Set(telegram.SecretHeader, postSecret)
	return r
}

// post posts a body and returns the answer.
func (r *receiver) post(body string) *httptest.ResponseRecorder {
	return r.serve(posted(strings.NewReader(body)))
}

func (r *receiver) serve(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

func TestAPostIsAnswered200OnceItIsStored(t *testing.T) {
	t.Parallel()
	r := receive(t)
	const body = "{\"update_id\" : 1,\n\"x\":\"\\u0041<&>\"}"
	w := r.post(body)
	require.Equal(t, http.StatusOK, w.Code)
	require.Empty(t, w.Body.String(), "a body would be taken for a call")
	require.Equal(t, []string{body}, r.taker.took(), "byte for byte")
	require.Equal(t, 1, r.counts.of(starter.PostStored))
	require.Empty(t, r.log.String())
}

func TestWhatIsNoPostIsRefused(t *testing.T) {
	t.Parallel()
	r := receive(t)
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		req := posted(strings.NewReader("{}"))
		req.Method = method
		w := r.serve(req)
		require.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		require.Equal(t, "POST", w.Header().Get("Allow"))
	}
	require.Empty(t, r.taker.took())
}

// unreadable is a body that must not be read.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestAPostWithoutTheSecretLeavesNoTraceButACount(t *testing.T) {
	t.Parallel()
	r := receive(t)
	for i, secret := range []string{"", "new_SECRET-", "new_SECRET-11", "NEW_SECRET-1", "new_SECRET-1,old_SECRET-0", " new_SECRET-1"} {
		req := posted(unreadable{t})
		req.Header.Set(telegram.SecretHeader, secret)
		w := r.serve(req)
		require.Equal(t, http.StatusForbidden, w.Code, secret)
		require.Empty(t, w.Body.String())
		require.Empty(t, w.Header(), "nothing tells what is here")
		require.Equal(t, i+1, r.counts.of(starter.PostForbidden))
	}
	req := posted(unreadable{t})
	req.Header.Del(telegram.SecretHeader)
	require.Equal(t, http.StatusForbidden, r.serve(req).Code)
	require.Empty(t, r.taker.took())
	require.Empty(t, r.log.String())
}

func TestWithoutAnySecretNothingIsTaken(t *testing.T) {
	t.Parallel()
	counts := &answers{}
	h := starter.NewWebhook(nil, counts, slog.New(slog.DiscardHandler))
	h.Open(t.Context(), &taker{})
	req := posted(strings.NewReader("{}"))
	req.Header.Del(telegram.SecretHeader)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	require.Equal(t, http.StatusForbidden, w.Code)
}

func TestTheSecretBeforeIsTakenAsWell(t *testing.T) {
	t.Parallel()
	r := receive(t)
	req := posted(strings.NewReader("{}"))
	req.Header.Set(telegram.SecretHeader, "old_SECRET-0")
	require.Equal(t, http.StatusOK, r.serve(req).Code)
}

func TestABodyAboveAMegabyteIsRefused(t *testing.T) {
	t.Parallel()
	r := receive(t)
	most := strings.Repeat(" ", 1<<20)
	require.Equal(t, http.StatusOK, r.post(most).Code)
	req := posted(unreadable{t})
	req.ContentLength = 1<<20 + 1
	require.Equal(t, http.StatusRequestEntityTooLarge, r.serve(req).Code, "unread")
	req = posted(strings.NewReader(most + " "))
	req.ContentLength = -1 // it comes in chunks
	require.Equal(t, http.StatusRequestEntityTooLarge, r.serve(req).Code)
	require.Len(t, r.taker.took(), 1)
	require.Equal(t, 2, r.counts.of(starter.PostMalformed))
}

func TestABodyThatBreaksOffIsNotStored(t *testing.T) {
	t.Parallel()
	r := receive(t)
	w := r.serve(posted(io.MultiReader(strings.NewReader(`{"update_id":1}`), broken{})))
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Empty(t, r.taker.took())
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestPostsAboveTheMostAreToldAtOnceToComeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := receive(t)
		release := make(chan struct{})
		r.taker.take = func(context.Context) error {
			<-release
			return nil
		}
		codes := make(chan int, 200)
		for range 200 {
			go func() { codes <- r.post("{}").Code }()
		}
		synctest.Wait()
		require.Len(t, codes, 200-starter.PostsMost, "the others are held")
		for range 200 - starter.PostsMost {
			require.Equal(t, http.StatusServiceUnavailable, <-codes)
		}
		w := r.serve(posted(unreadable{t}))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
		close(release)
		for range starter.PostsMost {
			require.Equal(t, http.StatusOK, <-codes)
		}
		require.Equal(t, http.StatusOK, r.post("{}").Code, "the places are free again")
		require.Equal(t, 201-starter.PostsMost, r.counts.of(starter.PostBusy))
	})
}

func TestAPanicGivesItsPlaceBack(t *testing.T) {
	t.Parallel()
	r := receive(t)
	r.taker.take = func(context.Context) error { panic("?") }
	for range starter.PostsMost + 1 {
		require.Panics(t, func() { r.post("{}") })
	}
	r.taker.take = nil
	require.Equal(t, http.StatusOK, r.post("{}").Code)
}

func TestWhatCannotBeStoredComesAgainAndIsToldOnce(t *testing.T) {
	t.Parallel()
	r := receive(t)
	away := true
	r.taker.take = func(context.Context) error {
		if away {
			return errAway
		}
		return nil
	}
	for range 3 {
		w := r.post(`{"text":"secret words"}`)
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, "1", w.Header().Get("Retry-After"))
	}
	away = false
	require.Equal(t, http.StatusOK, r.post("{}").Code)
	require.Equal(t, http.StatusOK, r.post("{}").Code)
	require.Equal(t, 1, r.log.count("posts fail, and Telegram comes again with them"))
	require.Equal(t, 1, r.log.count("posts do not fail any more"))
	require.NotContains(t, r.log.String(), "secret words")
	require.Equal(t, 3, r.counts.of(starter.PostFailed))
}

func TestAnInboxThatIsBusyIsNoTrouble(t *testing.T) {
	t.Parallel()
	r := receive(t)
	r.taker.take = func(context.Context) error { return starter.ErrBusy }
	w := r.post("{}")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Equal(t, 1, r.counts.of(starter.PostBusy))
	require.Empty(t, r.log.String())
}

func TestFiveTimesTheSameAtOnceAreFive200sAndOneWorkflow(t *testing.T) {
	t.Parallel()
	b, r := setup(starter.Settings{}), standBy()
	r.Open(t.Context(), b.inbox)
	server := httptest.NewServer(r)
	defer server.Close()
	codes := make(chan int, 5)
	for range 5 {
		go func() {
			req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, bytes.NewReader(message(1, 42)))
			req.Header.Set(telegram.SecretHeader, postSecret)
			res, err := server.Client().Do(req)
			if err != nil {
				codes <- 0
				return
			}
			_ = res.Body.Close()
			codes <- res.StatusCode
		}()
	}
	for range 5 {
		require.Equal(t, http.StatusOK, <-codes)
	}
	require.Equal(t, []string{id(1)}, b.server.ids())
}

func TestStoringGoesOnWhenTheConnectionIsGoneAndEndsAfterTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := receive(t)
		r.taker.take = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		req := posted(strings.NewReader("{}"))
		gone, hangUp := context.WithCancel(t.Context())
		hangUp()
		w := r.serve(req.WithContext(gone))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

// pipes are connections without a network, for bubbles.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.conns <- there
	return here
}

func TestASlowClientHoldsNothing(t *testing.T) {
	t.Parallel()
	for secret, within := range map[string]time.Duration{postSecret: 10 * time.Second, "wrong": time.Second} {
		synctest.Test(t, func(t *testing.T) {
			r, listener := receive(t), newPipes()
			server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
			go func() { _ = server.Serve(listener) }()
			conn := listener.dial()
			began := time.Now()
			_, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"+telegram.SecretHeader+": "+secret+"\r\n\r\n{\"upd")
			require.NoError(t, err)
			got, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(got, []byte("HTTP/1.1 4")), string(got))
			require.InDelta(t, within.Seconds(), time.Since(began).Seconds(), 1)
			require.Empty(t, r.taker.took())
			require.NoError(t, server.Close())
			synctest.Wait()
		})
	}
}

func TestAClosedDeskAwaitsWhatIsBeingStored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := receive(t)
		r.taker.take = func(context.Context) error {
			time.Sleep(2 * time.Second) // of a bubble
			return nil
		}
		codes := make(chan int, 1)
		go func() { codes <- r.post("1").Code }()
		synctest.Wait()
		closed := make(chan struct{})
		go func() {
			r.Close()
			close(closed)
		}()
		synctest.Wait()
		require.Equal(t, http.StatusServiceUnavailable, r.post("2").Code, "from now on it is not on duty")
		select {
		case <-closed:
			require.Fail(t, "one is being stored")
		default:
		}
		<-closed
		require.Equal(t, http.StatusOK, <-codes)
		require.Equal(t, []string{"1"}, r.taker.took())
		r.Close()
	})
}

func TestWhatTakesTooLongToStoreIsCutOffWhenTheDeskCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := receive(t)
		r.taker.take = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		codes := make(chan int, 1)
		go func() { codes <- r.post("1").Code }()
		synctest.Wait()
		began := time.Now()
		r.Close()
		require.Equal(t, 3*time.Second, time.Since(began))
		require.Equal(t, http.StatusServiceUnavailable, <-codes)
	})
}

// passing is a process on duty that is reached by a call.
type passing func(header http.Header, body []byte) (starter.Passed, error)

func (p passing) Pass(_ context.Context, header http.Header, body []byte) (starter.Passed, error) {
	return p(header, body)
}

func TestWhoIsNotOnDutyPassesOnAndAnswersWhatIsAnswered(t *testing.T) {
	t.Parallel()
	r := standBy()
	w := r.post("1")
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "nobody to pass it on to")
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	answer, failure := starter.Passed{Status: http.StatusOK}, error(nil)
	r.PassTo(passing(func(header http.Header, body []byte) (starter.Passed, error) {
		require.Equal(t, postSecret, header.Get(telegram.SecretHeader))
		require.Equal(t, "2", string(body))
		return answer, failure
	}))
	require.Equal(t, http.StatusOK, r.post("2").Code)
	require.Equal(t, 1, r.counts.of(starter.PostPassed))
	answer = starter.Passed{Status: http.StatusServiceUnavailable, RetryAfter: "7"}
	w = r.post("2")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "7", w.Header().Get("Retry-After"))
	failure = errors.New("nobody answers")
	w = r.post("2")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Equal(t, 1, r.log.count("nobody answers"))

	r.Open(t.Context(), r.taker)
	require.Equal(t, http.StatusOK, r.post("3").Code, "on duty it stores by itself")
	require.Equal(t, []string{"3"}, r.taker.took())
}

func TestAPassedPostIsStoredAndNeverPassedAgain(t *testing.T) {
	t.Parallel()
	r := standBy()
	r.PassTo(passing(func(http.Header, []byte) (starter.Passed, error) {
		t.Error("passed again")
		return starter.Passed{}, nil
	}))
	marked := func() *http.Request {
		req := posted(strings.NewReader("1"))
		req.Header.Set("X-Durabot-Passed", "1")
		return req
	}
	w := r.serve(marked())
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	r.Open(t.Context(), r.taker)
	require.Equal(t, http.StatusOK, r.serve(marked()).Code)
	require.Equal(t, []string{"1"}, r.taker.took())
}

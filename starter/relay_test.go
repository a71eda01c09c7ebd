package starter_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/starter"
)

// at is a look that finds this address.
func at(address string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return address, nil }
}

// serveAt runs a handler and returns its address.
func serveAt(t *testing.T, h http.Handler) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle(starter.WebhookPath, h)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestAPostIsPassedOnWholeAndMarked(t *testing.T) {
	t.Parallel()
	var seen *http.Request
	var body string
	address := serveAt(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		seen, body = r, string(raw)
		w.Header().Set("X-Durabot-Post", "stored")
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(http.StatusAccepted)
	}))
	header := http.Header{
		"Content-Type": {"application/json"}, telegram.SecretHeader: {postSecret}, "Connection": {"close"}, "Transfer-Encoding": {"chunked"},
		"Content-Length": {"999"}, "X-Forwarded-For": {"a", "b"}, "Expect": {"100-continue"},
	}
	got, err := starter.NewRelay(at(address)).Pass(t.Context(), header, []byte("{ }"))
	require.NoError(t, err)
	require.Equal(t, starter.Passed{Status: http.StatusAccepted, RetryAfter: "9"}, got)
	require.Equal(t, http.MethodPost, seen.Method)
	require.Equal(t, "{ }", body)
	require.Equal(t, int64(3), seen.ContentLength)
	require.Equal(t, postSecret, seen.Header.Get(telegram.SecretHeader))
	require.Equal(t, "1", seen.Header.Get("X-Durabot-Passed"))
	require.Equal(t, []string{"a", "b"}, seen.Header.Values("X-Forwarded-For"))
	require.False(t, seen.Close)
	require.Empty(t, seen.Header.Get("Expect"))
	require.Empty(t, header.Get("X-Durabot-Passed"), "the post itself is left as it is")
}

func TestAPostToOneProcessIsStoredByTheOneOnDuty(t *testing.T) {
	t.Parallel()
	holder, other := receive(t), standBy()
	address := serveAt(t, holder)
	other.PassTo(starter.NewRelay(at(address)))
	require.Equal(t, http.StatusOK, other.post("1").Code)
	require.Equal(t, []string{"1"}, holder.taker.took())
	require.Empty(t, other.taker.took())

	holder.taker.take = func(context.Context) error { return errAway }
	w := other.post("2")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Zero(t, other.log.count("posts fail"), "it was answered; the other tells why")
}

func TestTwoProcessesThatTakeEachOtherForTheOneOnDutyDoNotPassAPostForEver(t *testing.T) {
	t.Parallel()
	a, b := standBy(), standBy()
	addressA, addressB := serveAt(t, a), serveAt(t, b)
	a.PassTo(starter.NewRelay(at(addressB)))
	b.PassTo(starter.NewRelay(at(addressA)))
	require.Equal(t, http.StatusServiceUnavailable, a.post("1").Code)
	require.Equal(t, 1, b.counts.of(starter.PostFailed))
	require.Equal(t, 1, a.counts.of(starter.PostFailed))
}

func TestAStrangerAtTheAddressStoresNothing(t *testing.T) {
	t.Parallel()
	elsewhere := receive(t)
	for name, stranger := range map[string]http.Handler{
		"says yes to all":          http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		"is gone":                  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }),
		"sends elsewhere":          http.RedirectHandler("http://"+serveAt(t, elsewhere)+starter.WebhookPath, http.StatusTemporaryRedirect),
		"is a bot with its secret": starter.NewWebhook([]string{"another"}, &answers{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := starter.NewRelay(at(serveAt(t, stranger))).Pass(t.Context(), posted(nil).Header, nil)
			require.ErrorIs(t, err, starter.ErrHolderSilent)
			require.NotContains(t, err.Error(), postSecret)
		})
	}
	require.Empty(t, elsewhere.taker.took())
}

// far is a process on duty without a network.
type far struct {
	mu     sync.Mutex
	posts  []string // their addresses
	answer func() error
}

func (f *far) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	f.posts = append(f.posts, r.URL.Host)
	f.mu.Unlock()
	if f.answer != nil {
		if err := f.answer(); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"X-Durabot-Post": {"stored"}}, Body: http.NoBody, Request: r}, nil
}

func TestWhoIsOnDutyIsAskedOnceInFiveSecondsAndAtOnceAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked, address := 0, "one:1"
		f := &far{}
		r := starter.NewRelay(func(context.Context) (string, error) {
			asked++
			return address, nil
		})
		r.Through(f)
		pass := func() error {
			_, err := r.Pass(t.Context(), http.Header{}, nil)
			return err
		}
		for range 10 {
			require.NoError(t, pass())
		}
		require.Equal(t, 1, asked)
		elapse(5*time.Second + 1)
		require.NoError(t, pass())
		require.Equal(t, 2, asked)

		elapse(3 * time.Second)
		f.answer, address = func() error { return errors.New("refused") }, "two:2"
		require.ErrorIs(t, pass(), starter.ErrHolderSilent)
		f.answer = nil
		require.NoError(t, pass())
		require.Equal(t, 3, asked, "after a failure at once")
		require.Equal(t, "two:2", f.posts[len(f.posts)-1])

		f.answer = func() error { return errors.New("refused") }
		require.ErrorIs(t, pass(), starter.ErrHolderSilent)
		posts := len(f.posts)
		for range 10 {
			require.ErrorIs(t, pass(), starter.ErrNoHolder)
		}
		require.Equal(t, 3, asked, "and not more often than every two seconds")
		require.Len(t, f.posts, posts)
		elapse(2*time.Second + 1)
		require.ErrorIs(t, pass(), starter.ErrHolderSilent)
		require.Equal(t, 4, asked)
	})
}

func TestNobodyOnDutyIsAskedForAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked int
		var fails error
		address := ""
		r := starter.NewRelay(func(context.Context) (string, error) {
			asked++
			return address, fails
		})
		r.Through(&far{})
		pass := func() error {
			_, err := r.Pass(t.Context(), http.Header{}, nil)
			return err
		}
		require.ErrorIs(t, pass(), starter.ErrNoHolder)
		require.ErrorIs(t, pass(), starter.ErrNoHolder)
		require.Equal(t, 1, asked)
		elapse(2*time.Second + 1)
		fails = errAway
		require.ErrorIs(t, pass(), errAway)
		require.ErrorIs(t, pass(), starter.ErrNoHolder, "Temporal is not asked by every post")
		elapse(2*time.Second + 1)
		address, fails = "one:1", nil
		require.NoError(t, pass())
		require.Equal(t, 3, asked)
	})
}

// Locks do not count as waiting in a bubble, so this one takes its two seconds.
func TestThoseWhoComeTogetherAskOnceAndALookThatHangsEnds(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	r := starter.NewRelay(func(ctx context.Context) (string, error) {
		asked.Add(1)
		<-ctx.Done()
		return "", ctx.Err()
	})
	began := time.Now()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _ = r.Pass(t.Context(), http.Header{}, nil) })
	}
	all.Wait()
	require.Equal(t, int64(1), asked.Load())
	require.Less(t, time.Since(began), 4*time.Second)
}

func TestTheHoldersAddressIsThatOfItsHeartbeat(t *testing.T) {
	t.Parallel()
	s := duty(contract.DutyState{}, beating(t, after(time.Hour), contract.Beat{Address: "10.0.0.7:8080"}))
	address, err := starter.HolderAddress(s, bot)(t.Context())
	require.NoError(t, err)
	require.Equal(t, "10.0.0.7:8080", address)
	address, err = starter.HolderAddress(&dutyServer{}, bot)(t.Context())
	require.NoError(t, err)
	require.Empty(t, address, "there is no duty")
	_, err = starter.HolderAddress(&dutyServer{err: errAway}, bot)(t.Context())
	require.ErrorIs(t, err, errAway)
}

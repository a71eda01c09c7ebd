package telegram_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

const (
	botID  = int64(4242)
	secret = "AAF-0_kdqz9Wn4vX_7tQm2LbYc-5RgHs1uE"
)

func testToken(tb testing.TB) telegram.Token {
	tb.Helper()
	token, err := telegram.ParseToken("4242:" + secret)
	require.NoError(tb, err)
	return token
}

// serve runs a Bot API server of one handler and returns a client for it.
func serve(t *testing.T, handler http.HandlerFunc) *telegram.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return dial(t, server.URL, nil)
}

func dial(t *testing.T, base string, transport http.RoundTripper) *telegram.Client {
	t.Helper()
	if transport == nil {
		own := &http.Transport{} // the shared environment must not decide a test
		t.Cleanup(own.CloseIdleConnections)
		transport = own
	}
	client, err := telegram.New(telegram.Options{
		BaseURL: base, Token: testToken(t), SendTimeout: 5 * time.Second, Transport: transport,
	})
	require.NoError(t, err)
	return client
}

// reply answers every request with one status and body.
func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// cutBody promises more bytes than it sends and drops the connection.
func cutBody(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// hangUp reads the request and closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

// asError fails the test unless err is an *Error.
func asError(t *testing.T, err error) *telegram.Error {
	t.Helper()
	var e *telegram.Error
	require.ErrorAs(t, err, &e, "not a *telegram.Error: %v", err)
	return e
}

// tripFunc is a transport made of one function.
type tripFunc func(*http.Request) (*http.Response, error)

func (f tripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

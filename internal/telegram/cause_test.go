package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

// failing is a client whose every request ends in what fail returns.
func failing(t *testing.T, fail func(r *http.Request) error) *telegram.Client {
	t.Helper()
	return dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) { return nil, fail(r) }))
}

func TestACleanCauseStaysWhole(t *testing.T) {
	t.Parallel()
	cause := &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	_, err := failing(t, func(*http.Request) error { return cause }).Call(t.Context(), "getMe", nil)
	var op *net.OpError
	require.ErrorAs(t, err, &op)
	require.Same(t, cause, op)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Equal(t, "telegram: getMe: read tcp: read: connection reset by peer", err.Error())
}

func TestASecretInAnyBranchHidesTheWholeCause(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(r *http.Request) error{
		"joined": func(r *http.Request) error { return errors.Join(io.EOF, errors.New(r.URL.Path)) },
		"joined below a quiet layer": func(r *http.Request) error {
			return quiet{errors.Join(io.EOF, errors.New(r.URL.Path))}
		},
		"URL error in a branch": func(r *http.Request) error {
			return errors.Join(&url.Error{Op: "Get", URL: r.URL.String(), Err: io.EOF}, net.ErrClosed)
		},
		"below a quiet layer": func(r *http.Request) error { return quiet{fmt.Errorf("%s: %w", r.URL, io.EOF)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := failing(t, fail).Call(t.Context(), "getMe", nil)
			requireNoLeak(t, err)
			require.ErrorIs(t, err, io.EOF)
		})
	}
	_, err := failing(t, func(*http.Request) error {
		return quiet{errors.Join(io.EOF, net.ErrClosed)}
	}).Call(t.Context(), "getMe", nil)
	var whole quiet
	require.ErrorAs(t, err, &whole, "nothing to hide in it")
}

// quiet is an error whose own text shows nothing of what it wraps.
type quiet struct{ error }

func (quiet) Error() string   { return "quiet" }
func (q quiet) Unwrap() error { return q.error }

func TestAConnectionThatDiedUnusedIsReplacedWithoutASecondRequest(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	road := newRoad(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	})
	upload := object(t, map[string]any{"photo": map[string]any{"@file": writeFile(t, "a.jpg", "A")}})
	_, err := road.client.Call(t.Context(), "sendPhoto", upload)
	require.NoError(t, err)
	road.dead.Store(1)
	_, err = road.client.Call(t.Context(), "sendPhoto", upload)
	require.NoError(t, err, "the file is read once more for the new connection")
	require.Equal(t, int32(2), road.dials.Load())
	require.Equal(t, int32(2), requests.Load())
}

func TestADialThatFailsAfterADeadConnectionCountsAsNotWritten(t *testing.T) {
	t.Parallel()
	road := newRoad(t, reply(200, `{"ok":true,"result":true}`))
	_, err := road.client.Call(t.Context(), "sendMessage", nil)
	require.NoError(t, err)
	road.dead.Store(1)
	road.closed.Store(true)
	_, err = road.client.Call(t.Context(), "sendMessage", nil)
	require.ErrorIs(t, err, syscall.ENETUNREACH)
	require.False(t, asError(t, err).Written)
	require.Equal(t, telegram.Unavailable, telegram.Classify(err, "sendMessage"))
}

// road is the way to a server: its first connections can be declared dead, and it
// can be closed to new ones.
type road struct {
	client *telegram.Client
	dials  atomic.Int32
	dead   atomic.Int32 // connections up to this number refuse every byte
	closed atomic.Bool
}

func newRoad(t *testing.T, handler http.HandlerFunc) *road {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	r := &road{}
	transport := &http.Transport{DialContext: r.dial}
	t.Cleanup(transport.CloseIdleConnections)
	r.client = dial(t, server.URL, transport)
	return r
}

func (r *road) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if r.closed.Load() {
		return nil, syscall.ENETUNREACH
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return &roadConn{Conn: conn, road: r, number: r.dials.Add(1)}, err
}

type roadConn struct {
	net.Conn
	road   *road
	number int32
}

func (c *roadConn) Write(b []byte) (int, error) {
	if c.number <= c.road.dead.Load() {
		return 0, syscall.EPIPE
	}
	return c.Conn.Write(b)
}

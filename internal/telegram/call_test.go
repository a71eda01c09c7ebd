package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

func TestCallPostsParamsAsTheyAre(t *testing.T) {
	t.Parallel()
	params := `{"chat_id" : 9007199254740993, "text":"<&> {x} \u00e9"}`
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.Path != "/bot4242:"+secret+"/sendMessage" ||
			r.Header.Get("Content-Type") != "application/json" || string(body) != params {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":  7}}`)
	})
	result, err := client.Call(t.Context(), "sendMessage", json.RawMessage(params))
	require.NoError(t, err)
	require.Equal(t, `{"message_id":  7}`, string(result))
}

func TestCallWithoutParamsSendsAnEmptyObject(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"ok":true,"result":`+string(body)+`}`)
	})
	for _, params := range []string{"", " ", "{}"} {
		result, err := client.Call(t.Context(), "getMe", json.RawMessage(params))
		require.NoError(t, err)
		require.JSONEq(t, `{}`, string(result))
	}
}

func TestCallRefusesWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	client := serve(t, reply(200, `{"ok":true,"result":1}`))
	for _, method := range []string{"", "../getMe", "getMe?x=1", "get Me", "getMe/", "1getMe", "getMé", "getMe\n", strings.Repeat("a", 65)} {
		_, err := client.Call(t.Context(), method, nil)
		require.ErrorIs(t, err, telegram.ErrInvalidCall, method)
		require.Equal(t, telegram.Rejected, telegram.Classify(err, method))
	}
	for _, params := range []string{"null", "[]", "7", `"x"`, "{", `{"a":1}{`, "\xff"} {
		_, err := client.Call(t.Context(), "sendMessage", json.RawMessage(params))
		require.ErrorIs(t, err, telegram.ErrInvalidCall, params)
		require.False(t, asError(t, err).Written)
	}
}

func TestNothingIsWrittenWhenTheRoadIsClosed(t *testing.T) {
	t.Parallel()
	refused := refusedAddress(t)
	secure := tlsServer(t)
	proxy := httptest.NewServer(reply(http.StatusForbidden, "no"))
	t.Cleanup(proxy.Close)
	through := func(address string) http.RoundTripper {
		return &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: strings.TrimPrefix(address, "http://")})}
	}
	for name, client := range map[string]*telegram.Client{
		"connection refused":    dial(t, "http://"+refused, nil),
		"no such host":          dial(t, "http://bot.invalid", nil),
		"certificate unknown":   dial(t, secure.URL, nil),
		"no TLS on the port":    dial(t, strings.Replace(proxy.URL, "http:", "https:", 1), nil),
		"proxy refused":         dial(t, "https://bot.invalid", through(refused)),
		"proxy refuses CONNECT": dial(t, "https://bot.invalid", through(proxy.URL)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Call(t.Context(), "sendMessage", nil)
			e := asError(t, err)
			require.False(t, e.Written)
			require.Zero(t, e.Status)
			require.Error(t, e.Err)
			require.Equal(t, telegram.Unavailable, telegram.Classify(err, "sendMessage"))
			var withURL *url.Error
			require.NotErrorAs(t, err, &withURL)
		})
	}
	_, err := dial(t, "http://"+refused, nil).Call(t.Context(), "getMe", nil)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	var network net.Error
	require.ErrorAs(t, err, &network)
	require.Equal(t, telegram.Unavailable, telegram.Classify(err, "getMe"))
}

func TestAnAnswerLostAfterTheRequestLeftIsUnknown(t *testing.T) {
	t.Parallel()
	reset := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
	}{
		"closed":           {hangUp, 0},
		"reset":            {reset, 0},
		"body cut at 200":  {cutBody(200, `{"ok":true,"result":{"message_id":7}}`), 200},
		"body cut at 502":  {cutBody(502, "<html>"), 502},
		"garbage for HTTP": {garbage, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				c.handler(w, r)
			})
			_, err := client.Call(t.Context(), "sendMessage", nil)
			e := asError(t, err)
			require.True(t, e.Written)
			require.Equal(t, c.status, e.Status)
			require.Equal(t, telegram.Unknown, telegram.Classify(err, "sendMessage"))
			require.Equal(t, telegram.Unavailable, telegram.Classify(err, "editMessageText"))
			require.Equal(t, int32(1), requests.Load(), "one call is one request")
		})
	}
}

func TestAKeptConnectionThatDiesIsNotUsedForASecondRequest(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			_, _ = io.WriteString(w, `{"ok":true,"result":1}`)
			return
		}
		hangUp(w, r)
	})
	_, err := client.Call(t.Context(), "sendMessage", nil)
	require.NoError(t, err)
	_, err = client.Call(t.Context(), "sendMessage", nil)
	require.True(t, asError(t, err).Written)
	require.Equal(t, int32(2), requests.Load())
}

func TestSilenceEndsAtTheSendTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := telegram.New(telegram.Options{Token: testToken(t), Transport: silent})
		require.NoError(t, err)
		start := time.Now()
		_, err = client.Call(t.Context(), "sendMessage", nil)
		require.Equal(t, 75*time.Second, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var network net.Error
		require.True(t, errors.As(err, &network) && network.Timeout())
	})
}

func TestACanceledCallSaysWhetherItHadLeft(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	_, err := client.Call(ctx, "sendMessage", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, asError(t, err).Written)

	_, err = client.Call(ctx, "sendMessage", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, asError(t, err).Written)
}

func TestRedirectsAreNeverFollowed(t *testing.T) {
	t.Parallel()
	var strangers atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	t.Cleanup(stranger.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, target := range map[string]string{"other host": stranger.URL, "same host": ""} {
			t.Run(name+" "+http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				var requests atomic.Int32
				client := serve(t, func(w http.ResponseWriter, r *http.Request) {
					requests.Add(1)
					http.Redirect(w, r, target+r.URL.Path+"x", status)
				})
				_, err := client.Call(t.Context(), "sendMessage", nil)
				require.Equal(t, status, asError(t, err).Status)
				require.Equal(t, int32(1), requests.Load())
				require.Equal(t, telegram.Unknown, telegram.Classify(err, "sendMessage"))
				require.Equal(t, telegram.Unavailable, telegram.Classify(err, "getUpdates"))
			})
		}
	}
	t.Cleanup(func() { require.Zero(t, strangers.Load()) })
}

func TestAnEndlessBodyIsCutOff(t *testing.T) {
	t.Parallel()
	body := io.LimitReader(zeros{}, 65<<20)
	client := dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r, Header: http.Header{}}, nil
	}))
	_, err := client.Call(t.Context(), "getUpdates", nil)
	require.Equal(t, 200, asError(t, err).Status)
	require.NotErrorIs(t, err, telegram.ErrNotAnswer, "it was read to the end")
	require.Equal(t, telegram.Unavailable, telegram.Classify(err, "getUpdates"))
}

func TestNewChecksItsOptionsWithoutQuotingThem(t *testing.T) {
	t.Parallel()
	for _, base := range []string{
		"api.telegram.org", "ftp://api.telegram.org", "https://", "https:///x", "https://u:" + secret + "@h", "https://h?x",
		"https://h?", "https://h#x", "https://h/bot4242:" + secret, "https://h/../x", "https://h/a%2Fb", "https://h//x", "https://h/.", "://", "https://h:x",
		"https://h/a b",
	} {
		_, err := telegram.New(telegram.Options{BaseURL: base, Token: testToken(t)})
		require.ErrorContains(t, err, "expected", base)
		requireNoSecret(t, err.Error())
	}
	for _, base := range []string{"", "https://api.telegram.org", "http://127.0.0.1:8081/", "http://[::1]:80", "https://h/tg/api", "https://h/tg/"} {
		_, err := telegram.New(telegram.Options{BaseURL: base, Token: testToken(t)})
		require.NoError(t, err, base)
	}
	_, err := telegram.New(telegram.Options{})
	require.ErrorContains(t, err, "token")
	_, err = telegram.New(telegram.Options{Token: testToken(t), SendTimeout: -1})
	require.ErrorContains(t, err, "negative")
}

func TestABaseURLMayHaveAPrefixAndASlash(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true,"result":"`+strings.ReplaceAll(r.URL.Path, secret, "S")+`"}`)
	}))
	t.Cleanup(server.Close)
	for base, want := range map[string]string{"": "/bot4242:S/getMe", "/": "/bot4242:S/getMe", "/tg/": "/tg/bot4242:S/getMe"} {
		result, err := dial(t, server.URL+base, nil).Call(t.Context(), "getMe", nil)
		require.NoError(t, err)
		require.JSONEq(t, `"`+want+`"`, string(result))
	}
}

// refusedAddress is one where nobody listens any more.
func refusedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// tlsServer has a certificate that no client trusts.
func tlsServer(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(reply(200, `{"ok":true,"result":1}`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports each refused handshake
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// garbage answers with bytes that are not HTTP.
func garbage(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, "\x16\x03\x01 not HTTP at all\r\n\r\n")
		_ = conn.Close()
	}
}

// silent is a server that never answers.
var silent = tripFunc(func(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
})

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

package telegram_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

// requireNoLeak looks at an error in every way it may end in a log, a stored
// failure or an answer.
func requireNoLeak(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Error("call", "err", err, "any", []any{err})
	texts := []string{logged.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		texts = append(texts, fmt.Sprintf(verb, err))
	}
	for layer := range layers(err) {
		texts = append(texts, layer.Error(), fmt.Sprintf("%+v", layer), fmt.Sprintf("%#v", layer))
	}
	for _, text := range texts {
		requireNoSecret(t, text)
		require.NotContains(t, text, "/bot4242:"+"A")
		require.NotContains(t, text, "hunter2")
	}
	var withURL *url.Error
	require.NotErrorAs(t, err, &withURL, "a *url.Error holds the URL")
}

// layers yields err and everything errors.Unwrap and errors.Join reach.
func layers(err error) func(yield func(error) bool) {
	var walk func(err error, yield func(error) bool) bool
	walk = func(err error, yield func(error) bool) bool {
		if err == nil {
			return true
		}
		if !yield(err) {
			return false
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, branch := range joined.Unwrap() {
				if !walk(branch, yield) {
					return false
				}
			}
		}
		return walk(errors.Unwrap(err), yield)
	}
	return func(yield func(error) bool) { walk(err, yield) }
}

func TestNoErrorHoldsTheToken(t *testing.T) {
	t.Parallel()
	echo := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<p>%s</p> %s %s", r.URL.Path, url.QueryEscape(r.URL.Path), base64.StdEncoding.EncodeToString([]byte(r.URL.Path)))
		}
	}
	describe := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":400,"description":"wrong path %s"}`, r.URL.Path)
	}
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://bot.invalid"+r.URL.Path, http.StatusTemporaryRedirect)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"404 page echoing the URL": echo(404),
		"502 page echoing the URL": echo(502),
		"200 page echoing the URL": echo(200),
		"description with the URL": describe,
		"result with the URL": func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"ok":true,"result":"%s"}`, r.URL.Path)
		},
		"redirect": redirect,
		"cut body": cutBody(404, "/bot4242:"+secret),
		"hang up":  hangUp,
		"garbage":  garbage,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, handler).Updates(t.Context(), telegram.UpdatesRequest{})
			requireNoLeak(t, err)
		})
	}
}

func TestNoTransportErrorHoldsTheToken(t *testing.T) {
	t.Parallel()
	hung := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(hung.Close)
	refused := refusedAddress(t)
	proxy := func(text string) http.RoundTripper {
		return &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
			_, err := url.Parse(text)
			if err != nil {
				return nil, errors.New("invalid proxy address " + text + ": " + err.Error()) // as net/http does
			}
			return url.Parse(text)
		}}
	}
	for name, client := range map[string]*telegram.Client{
		"dial":         dial(t, "http://"+refused, nil),
		"DNS":          dial(t, "http://bot.invalid", nil),
		"TLS":          dial(t, tlsServer(t).URL, nil),
		"proxy":        dial(t, "https://bot.invalid", proxy("http://me:hunter2@"+refused)),
		"proxy faulty": dial(t, "https://bot.invalid", proxy("http://me:hunter2@host:port")),
		"timeout":      impatient(t, hung.URL),
		"panic with a URL": dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) {
			panic("cannot send " + r.URL.String())
		})),
		"panic with an error": dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) {
			panic(&url.Error{Op: "Post", URL: r.URL.String(), Err: errors.Join(io.EOF, errors.New(r.URL.Path))})
		})),
		"error with a URL": dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("outer: %w", &url.Error{Op: "Post", URL: r.URL.String(), Err: fmt.Errorf("%s: %w", r.URL, io.EOF)})
		})),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client.Call(t.Context(), "sendMessage", nil)
			requireNoLeak(t, err)
			requireNoLeak(t, fmt.Errorf("send: %w", err))
			_, err = client.Download(t.Context(), "documents/file_1", io.Discard)
			requireNoLeak(t, err)
		})
	}
}

func TestAHiddenCauseIsStillRecognised(t *testing.T) {
	t.Parallel()
	client := dial(t, "http://bot.invalid", tripFunc(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("%s: %w", r.URL, timeoutError{io.EOF})
	}))
	_, err := client.Call(t.Context(), "sendMessage", nil)
	require.ErrorIs(t, err, io.EOF)
	require.NotErrorIs(t, err, io.ErrUnexpectedEOF)
	var network interface{ Timeout() bool }
	require.True(t, errors.As(err, &network) && network.Timeout())
	require.Contains(t, err.Error(), "[redacted]")
}

func TestAClientPrintsNoToken(t *testing.T) {
	t.Parallel()
	client := dial(t, "http://bot.invalid", nil)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		requireNoSecret(t, fmt.Sprintf(verb, client))
		requireNoSecret(t, fmt.Sprintf(verb, *client))
	}
}

// impatient is a client that gives a call 50 ms.
func impatient(t *testing.T, base string) *telegram.Client {
	t.Helper()
	return allowing(t, base, 50*time.Millisecond)
}

type timeoutError struct{ error }

func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }
func (e timeoutError) Unwrap() error { return e.error }

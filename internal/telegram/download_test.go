package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegram"
)

// fetch downloads one path into memory.
func fetch(t *testing.T, client *telegram.Client, path string) (string, error) {
	t.Helper()
	var b bytes.Buffer
	n, err := client.Download(t.Context(), path, &b)
	require.Equal(t, int64(b.Len()), n, "the count is what the writer took")
	return b.String(), err
}

func TestDownloadWritesTheFileAsItIs(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("\x00\xff{\"ok\":false}", 100_000)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/file/bot4242:"+secret+"/documents/file_7.pdf" ||
			r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("User-Agent") != "durabot" {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = io.WriteString(w, want)
	})
	got, err := fetch(t, client, "documents/file_7.pdf")
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestDownloadTakesAnEmptyFileAndOneInChunks(t *testing.T) {
	t.Parallel()
	empty, err := fetch(t, serve(t, reply(200, "")), "a")
	require.NoError(t, err)
	require.Empty(t, empty)
	chunks, err := fetch(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 3 {
			_, _ = io.WriteString(w, "chunk ")
			_ = http.NewResponseController(w).Flush()
		}
	}), "a")
	require.NoError(t, err)
	require.Equal(t, "chunk chunk chunk ", chunks)
}

func TestDownloadKeepsThePrefixOfTheBaseURL(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.ReplaceAll(r.URL.Path, secret, "SECRET"))
	}))
	t.Cleanup(server.Close)
	got, err := fetch(t, dial(t, server.URL+"/telegram/", nil), "photos/1.jpg")
	require.NoError(t, err)
	require.Equal(t, "/telegram/file/bot4242:SECRET/photos/1.jpg", got)
}

func TestDownloadRefusesPathsThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	client := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for name, path := range map[string]string{
		"none":              "",
		"absolute":          "/var/lib/telegram-bot-api/4242:" + secret + "/documents/file_1",
		"up":                "../getMe",
		"up in the middle":  "documents/../../getMe",
		"up at the end":     "documents/..",
		"here":              "./documents/file",
		"empty segment":     "documents//file",
		"trailing slash":    "documents/",
		"another host":      "http://evil.invalid/file",
		"a scheme alone":    "file:documents",
		"other host by //":  "//evil.invalid/file",
		"backslash":         `documents\..\..\getMe`,
		"line break":        "documents/a\r\nHost: evil",
		"NUL":               "documents/a\x00",
		"broken UTF-8":      "documents/\xff",
		"direction change":  "documents/\u202egnp.exe",
		"far too long":      strings.Repeat("a", 513),
		"a token in itself": "bot4242:" + secret + "//x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fetch(t, client, path)
			require.ErrorIs(t, err, telegram.ErrInvalidCall)
			require.Equal(t, telegram.Rejected, telegram.Classify(err, "getFile"))
			e := asError(t, err)
			require.Equal(t, "download", e.Method)
			require.False(t, e.Written)
			requireNoLeak(t, err)
			require.NotContains(t, err.Error(), "evil", "a path is not quoted")
			require.Zero(t, asked.Load())
		})
	}
}

// TestDownloadSendsAnyPathInItsOwnPlace draws paths of any text: the server sees
// the very segments, below the bot's files, or nothing at all.
func TestDownloadSendsAnyPathInItsOwnPlace(t *testing.T) {
	t.Parallel()
	var seen atomic.Pointer[http.Request]
	client := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen.Store(r) })
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.OneOf(
			rapid.StringMatching(`[a-z%?#;&=+:@.~ é😀-]{1,12}(/[a-z%?#;&=+:@.~ é😀-]{1,12}){0,3}`),
			rapid.StringN(0, 40, -1),
			rapid.StringOf(rapid.SampledFrom([]rune(`./\%2e?#a:`))),
		).Draw(rt, "path")
		seen.Store(nil)
		_, err := client.Download(t.Context(), path, io.Discard)
		request := seen.Load()
		if err != nil {
			require.ErrorIs(rt, err, telegram.ErrInvalidCall)
			require.Nil(rt, request)
			return
		}
		require.Equal(rt, "/file/bot4242:"+secret+"/"+path, request.URL.Path)
		require.Empty(rt, request.URL.RawQuery)
		require.NotContains(rt, request.URL.Path, "/../")
	})
}

func TestDownloadTellsACutFromTheEnd(t *testing.T) {
	t.Parallel()
	cutChunks := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"shorter than its length": cutBody(200, "half"),
		"no last chunk":           cutChunks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fetch(t, serve(t, handler), "a")
			require.Equal(t, "half", got)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			e := asError(t, err)
			require.Equal(t, 200, e.Status)
			require.True(t, e.Written)
			require.Equal(t, telegram.Unavailable, telegram.Classify(err, "getFile"), "asking again is safe")
			requireNoLeak(t, err)
		})
	}
}

func TestDownloadRefusesAFileWhoseEndCannotBeTold(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf")
			_ = conn.Close()
		}
	})
	got, err := fetch(t, client, "a")
	require.Empty(t, got)
	require.ErrorIs(t, err, telegram.ErrNotAnswer)
	requireNoLeak(t, err)
}

func TestDownloadReadsARefusalLikeAnyAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    telegram.Error
		class   telegram.Class
	}{
		{
			"an old link", reply(404, `{"ok":false,"error_code":404,"description":"Not Found"}`),
			telegram.Error{Status: 404, Code: 404, Description: "Not Found"},
			telegram.NotFound,
		},
		{
			"a revoked token", reply(401, `{"ok":false,"error_code":401,"description":"Unauthorized"}`),
			telegram.Error{Status: 401, Code: 401, Description: "Unauthorized"},
			telegram.Unauthorized,
		},
		{
			"a limit", reply(429, `{"ok":false,"error_code":429,"parameters":{"retry_after":7}}`),
			telegram.Error{Status: 429, Code: 429, RetryAfter: 7 * time.Second},
			telegram.RateLimited,
		},
		{"a gateway", reply(502, "<html>"), telegram.Error{Status: 502}, telegram.Unavailable},
		{"a redirect", reply(302, ""), telegram.Error{Status: 302}, telegram.Unavailable},
		{"no content", reply(204, ""), telegram.Error{Status: 204}, telegram.Unavailable},
		{"a part", reply(206, `{"ok":true,"result":1}`), telegram.Error{Status: 206}, telegram.Unavailable},
		{"a cut refusal", cutBody(500, "<html"), telegram.Error{Status: 500}, telegram.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := fetch(t, serve(t, c.handler), "a")
			require.Empty(t, got, "an error page is no file")
			e := *asError(t, err)
			require.Equal(t, c.class, telegram.Classify(err, "getFile"))
			require.Equal(t, "download", e.Method)
			require.True(t, e.Written)
			require.Equal(t, c.want.Status, e.Status)
			require.Equal(t, c.want.Code, e.Code)
			require.Equal(t, c.want.Description, e.Description)
			require.Equal(t, c.want.RetryAfter, e.RetryAfter)
		})
	}
}

func TestDownloadFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(other.Close)
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
	})
	_, err := fetch(t, client, "a")
	require.Equal(t, http.StatusFound, asError(t, err).Status)
	require.Zero(t, elsewhere.Load())
	requireNoLeak(t, err)
}

func TestDownloadGoesThroughTheProxy(t *testing.T) {
	t.Parallel()
	var through atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Store(r.URL.Host)
		_, _ = io.WriteString(w, "by proxy")
	}))
	t.Cleanup(proxy.Close)
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(address)}
	t.Cleanup(transport.CloseIdleConnections)
	got, err := fetch(t, dial(t, "http://telegram.invalid", transport), "a")
	require.NoError(t, err)
	require.Equal(t, "by proxy", got)
	require.Equal(t, "telegram.invalid", through.Load())
}

// TestDownloadEndsInSilenceButNotOnASlowLine sends for longer than the limit,
// and then stops: only the second is a fault.
func TestDownloadEndsInSilenceButNotOnASlowLine(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	trickle := func(stall bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "12")
			for range 12 {
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
				if stall {
					select {
					case <-release:
					case <-r.Context().Done():
					}
					return
				}
				<-time.After(50 * time.Millisecond)
			}
		}
	}
	for name, c := range map[string]struct {
		stall bool
		want  int
	}{"slow": {false, 12}, "silent": {true, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(trickle(c.stall))
			t.Cleanup(server.Close)
			got, err := fetch(t, allowing(t, server.URL, 400*time.Millisecond), "a")
			require.Len(t, got, c.want)
			if !c.stall {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, context.Canceled, "the caller did not cancel")
			var network net.Error
			require.True(t, errors.As(err, &network) && network.Timeout())
			require.ErrorContains(t, err, "nothing arrived for 400ms")
		})
	}
}

func TestDownloadDoesNotTakeASlowWriterForSilence(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(reply(200, strings.Repeat("x", 100_000)))
	t.Cleanup(server.Close)
	client := allowing(t, server.URL, 400*time.Millisecond)
	n, err := client.Download(t.Context(), "a", writerFunc(func(p []byte) (int, error) {
		<-time.After(150 * time.Millisecond)
		return len(p), nil
	}))
	require.NoError(t, err)
	require.Equal(t, int64(100_000), n)
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	n, err := client.Download(ctx, "a", writerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}))
	require.Equal(t, int64(1), n)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, asError(t, err).Written)
}

func TestDownloadReportsAWriterThatFails(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	_, err := serve(t, reply(200, "file")).Download(t.Context(), "a", writerFunc(func([]byte) (int, error) { return 0, full }))
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, "telegram: download: status 200: copy the file: no space left")
}

func TestDownloadWritesNothingWhenTheRoadIsClosed(t *testing.T) {
	t.Parallel()
	_, err := fetch(t, dial(t, "http://"+refusedAddress(t), nil), "a")
	e := asError(t, err)
	require.False(t, e.Written)
	require.Zero(t, e.Status)
	_, err = fetch(t, serve(t, hangUp), "a")
	require.True(t, asError(t, err).Written)
}

func TestNoDownloadErrorHoldsTheToken(t *testing.T) {
	t.Parallel()
	echo := func(status int, form string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, form, r.URL.Path)
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"404 page echoing the URL":   echo(404, "<p>%s</p>"),
		"404 answer echoing the URL": echo(404, `{"ok":false,"error_code":404,"description":"no %s"}`),
		"502 page echoing the URL":   echo(502, "%s"),
		"206 answer echoing the URL": echo(206, `{"ok":true,"result":"%s"}`),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://bot.invalid"+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"cut page":                         cutBody(404, "/file/bot4242:"+secret),
		"cut file":                         cutBody(200, "/file/bot4242:"+secret),
		"hang up":                          hangUp,
		"garbage":                          garbage,
		"a status line of the URL's bytes": statusLine,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fetch(t, serve(t, handler), "documents/file_1")
			requireNoLeak(t, err)
		})
	}
}

// statusLine answers with the request's own path where a status belongs.
func statusLine(w http.ResponseWriter, r *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\n\r\n", r.URL.Path)
		_ = conn.Close()
	}
}

// A file id becomes a file in two steps, as the link lives for an hour only.
func ExampleClient_Download() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getFile") {
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_id":"AgAD","file_path":"photos/file_0.jpg"}}`)
			return
		}
		_, _ = io.WriteString(w, "the picture")
	}))
	defer server.Close()
	token, err := telegram.ParseToken("42:not-a-real-secret")
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := telegram.New(telegram.Options{BaseURL: server.URL, Token: token})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := client.Call(context.Background(), "getFile", json.RawMessage(`{"file_id":"AgAD"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	var file struct {
		Path string `json:"file_path"`
	}
	if err := json.Unmarshal(result, &file); err != nil {
		fmt.Println(err)
		return
	}
	var picture strings.Builder
	n, err := client.Download(context.Background(), file.Path, &picture)
	fmt.Println(n, picture.String(), err)
	// Output: 11 the picture <nil>
}

// FuzzFilePath feeds paths: what is asked for stays below the bot's files.
func FuzzFilePath(f *testing.F) {
	for _, path := range []string{"documents/file_1", "../x", "a/%2e%2e/b", "http://x", "//x", "/x", "a?b#c", `a\..\b`, "a/\u2025/b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		client := dial(t, "http://telegram.invalid/prefix", tripFunc(func(r *http.Request) (*http.Response, error) {
			require.Equal(t, "telegram.invalid", r.URL.Host)
			require.Equal(t, "/prefix/file/bot4242:"+secret+"/"+path, r.URL.Path)
			require.Equal(t, r.URL.Path, (&url.URL{Path: r.URL.Path}).JoinPath().Path, "nothing left to clean")
			return nil, io.EOF
		}))
		_, err := client.Download(t.Context(), path, io.Discard)
		requireNoLeak(t, err)
	})
}

// allowing is a client with a send timeout.
func allowing(t *testing.T, base string, limit time.Duration) *telegram.Client {
	t.Helper()
	client, err := telegram.New(telegram.Options{BaseURL: base, Token: testToken(t), SendTimeout: limit})
	require.NoError(t, err)
	return client
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

package telegram_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

func TestUpdatesSendsWhatWasAskedAndNoMore(t *testing.T) {
	t.Parallel()
	var body string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = r.URL.Path[len("/bot4242:")+len(secret):] + string(raw)
		_, _ = io.WriteString(w, `{"ok":true,"result":[]}`)
	})
	for want, request := range map[string]telegram.UpdatesRequest{
		`/getUpdates{"timeout":0}`:                                           {},
		`/getUpdates{"limit":100,"offset":7,"timeout":10}`:                   {Offset: 7, Limit: 100, Timeout: 10*time.Second + time.Millisecond},
		`/getUpdates{"allowed_updates":[],"timeout":0}`:                      {AllowedUpdates: []string{}},
		`/getUpdates{"allowed_updates":["message"],"offset":-1,"timeout":0}`: {Offset: -1, AllowedUpdates: []string{"message"}},
	} {
		updates, err := client.Updates(t.Context(), request)
		require.NoError(t, err)
		require.Empty(t, updates)
		require.Equal(t, want, body)
	}
}

func TestUpdatesAreKeptByteForByte(t *testing.T) {
	t.Parallel()
	first, second := `{"update_id" : 1e0, "hologram":{"\u0041":"<&>"}}`, `"not even an object"`
	client := serve(t, reply(200, `{"ok":true,"result":[ `+first+" ,\n"+second+`]}`))
	updates, err := client.Updates(t.Context(), telegram.UpdatesRequest{})
	require.NoError(t, err)
	require.Len(t, updates, 2)
	require.Equal(t, first, string(updates[0]))
	require.Equal(t, second, string(updates[1]))
}

func TestUpdatesThatAreNoListAreATypedError(t *testing.T) {
	t.Parallel()
	for _, result := range []string{`null`, `{}`, `true`, `"x"`, `7`} {
		t.Run(result, func(t *testing.T) {
			t.Parallel()
			client := serve(t, reply(200, `{"ok":true,"result":`+result+`}`))
			_, err := client.Updates(t.Context(), telegram.UpdatesRequest{})
			require.ErrorIs(t, err, telegram.ErrNotAnswer)
			require.Equal(t, telegram.Unavailable, telegram.Classify(err, "getUpdates"))
		})
	}
}

func TestAPollEndsTenSecondsAfterItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, err := telegram.New(telegram.Options{Token: testToken(t), Transport: silent})
		require.NoError(t, err)
		for _, timeout := range []time.Duration{0, 10 * time.Second, 100 * time.Second} {
			start := time.Now()
			_, err = client.Updates(t.Context(), telegram.UpdatesRequest{Timeout: timeout})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, timeout+10*time.Second, time.Since(start))
		}
	})
}

func TestAPollThatHungLeavesNoConnectionToTheNext(t *testing.T) {
	t.Parallel()
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	stall := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"ok":true,`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
	for name, fault := range map[string]http.HandlerFunc{"never answers": hang, "headers, then silence": stall} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lock sync.Mutex
			var conns []string
			client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				lock.Lock()
				conns = append(conns, r.RemoteAddr)
				count := len(conns)
				lock.Unlock()
				if count == 2 {
					fault(w, r)
					return
				}
				_, _ = io.WriteString(w, `{"ok":true,"result":[]}`)
			})
			_, err := client.Updates(t.Context(), telegram.UpdatesRequest{})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err = client.Updates(ctx, telegram.UpdatesRequest{})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.True(t, asError(t, err).Written)
			_, err = client.Updates(t.Context(), telegram.UpdatesRequest{})
			require.NoError(t, err)
			require.Equal(t, conns[0], conns[1], "kept while healthy")
			require.NotEqual(t, conns[1], conns[2])
		})
	}
}

// idler counts how often it is told to drop idle connections.
type idler struct {
	tripFunc
	closed int
}

func (i *idler) CloseIdleConnections() { i.closed++ }

func TestATimeoutDropsTheIdleConnectionsToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &idler{tripFunc: silent}
		client, err := telegram.New(telegram.Options{Token: testToken(t), Transport: transport})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = client.Updates(ctx, telegram.UpdatesRequest{})
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, transport.closed, "a caller who stops says nothing about the network")
		_, err = client.Updates(t.Context(), telegram.UpdatesRequest{})
		require.Error(t, err)
		require.Equal(t, 1, transport.closed)
	})
}

func TestAnOutageOfAnyShapeIsTransientForAPollAndUnknownForASend(t *testing.T) {
	t.Parallel()
	page := "<html><h1>Bad Gateway</h1>" + string(make([]byte, 3000)) + "</html>"
	for name, c := range map[string]struct {
		handler    http.HandlerFunc
		poll, send telegram.Class
	}{
		"502 HTML":        {reply(502, page), telegram.Unavailable, telegram.Unknown},
		"504 HTML":        {reply(504, page), telegram.Unavailable, telegram.Unknown},
		"500 JSON":        {reply(500, `{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}`), telegram.Unavailable, telegram.Unknown},
		"200 HTML":        {reply(200, page), telegram.Unavailable, telegram.Unknown},
		"200 empty":       {reply(200, ""), telegram.Unavailable, telegram.Unknown},
		"truncated JSON":  {reply(200, `{"ok":true,"result":[{"upd`), telegram.Unavailable, telegram.Unknown},
		"cut connection":  {cutBody(200, `{"ok":true,"result":[]}`), telegram.Unavailable, telegram.Unknown},
		"bare not ok":     {reply(200, `{"ok":false}`), telegram.Unavailable, telegram.Unknown},
		"301 elsewhere":   {http.RedirectHandler("http://bot.invalid/", http.StatusMovedPermanently).ServeHTTP, telegram.Unavailable, telegram.Unknown},
		"413 HTML":        {reply(413, page), telegram.Rejected, telegram.Rejected},
		"429 HTML":        {reply(429, page), telegram.RateLimited, telegram.RateLimited},
		"closed silently": {hangUp, telegram.Unavailable, telegram.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, c.handler)
			_, err := client.Updates(t.Context(), telegram.UpdatesRequest{})
			require.Equal(t, c.poll, telegram.Classify(err, "getUpdates"), err)
			require.Less(t, len(err.Error()), 300)
			_, err = client.Call(t.Context(), "sendMessage", nil)
			require.Equal(t, c.send, telegram.Classify(err, "sendMessage"), err)
		})
	}
}

func TestMeReadsTheBot(t *testing.T) {
	t.Parallel()
	client := serve(t, reply(200, `{"ok":true,"result":{"id":4242,"is_bot":true,"first_name":"Dura","username":"durabot"}}`))
	me, err := client.Me(t.Context())
	require.NoError(t, err)
	require.Equal(t, telegram.User{ID: botID, Username: "durabot", FirstName: "Dura"}, me)

	_, err = serve(t, reply(200, `{"ok":true,"result":{}}`)).Me(t.Context())
	require.ErrorIs(t, err, telegram.ErrNotAnswer)
	_, err = serve(t, reply(404, "")).Me(t.Context())
	require.Equal(t, telegram.NotFound, telegram.Classify(err, "getMe"))
}

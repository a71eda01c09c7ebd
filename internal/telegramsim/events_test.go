package telegramsim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// feed is an open event stream.
type feed struct {
	t     *testing.T
	lines *bufio.Scanner
}

// listen opens the stream with the headers of a browser.
func (b *bundle) listen(query, lastID string) *feed {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), soon)
	b.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/sim/api/events"+query, nil)
	require.NoError(b.t, err)
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := b.client.Do(req)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	require.Equal(b.t, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Equal(b.t, "no-store", resp.Header.Get("Cache-Control"))
	return &feed{b.t, bufio.NewScanner(resp.Body)}
}

// next reads one event, and checks that its id line is its seq.
func (f *feed) next() fields {
	f.t.Helper()
	id := ""
	for f.lines.Scan() {
		line := f.lines.Text()
		if text, isID := strings.CutPrefix(line, "id: "); isID {
			id = text
		}
		if data, isData := strings.CutPrefix(line, "data: "); isData {
			var e fields
			require.NoError(f.t, json.Unmarshal([]byte(data), &e))
			require.Equal(f.t, id, strconv.FormatFloat(e["seq"].(float64), 'f', -1, 64))
			require.NotEmpty(f.t, e["time"])
			return e
		}
		require.NotContains(f.t, line, "event:", "a browser's onmessage hears unnamed events only")
	}
	require.Fail(f.t, "the stream ended", "%v", f.lines.Err())
	return nil
}

func TestAStreamStartsWhereItIsToldTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, query, lastID, want string }{
		{"from the beginning", "?after=0", "", "one"},
		{"after an event", "?after=2", "", "three"},
		{"by the browser's own header", "", "1", "two"},
		{"the header wins", "?after=0", "2", "three"},
		{"a header that is no number", "?after=1", "x", "two"},
		{"with neither, now", "", "", "later"},
		{"with nonsense, now", "?after=x", "", "later"},
		{"at the newest", "?after=3", "", "later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			for _, text := range []string{"one", "two", "three"} {
				b.SendText(1001, text)
			}
			f := b.listen(c.query, c.lastID)
			b.SendText(1001, "later")
			require.Equal(t, c.want, f.next()["message"].(fields)["text"])
		})
	}
}

func TestAPageOfAnotherLifeIsToldToReload(t *testing.T) {
	t.Parallel()
	opts := telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json")}
	before := newSim(t, opts)
	for range 5 {
		before.SendText(1001, "x")
	}
	require.NoError(t, before.Close())
	b := setup(t, opts)
	f := b.listen("", "5")
	reset := f.next()
	require.Equal(t, "reset", reset["type"])
	require.InDelta(t, 0, reset["seq"], 0, "events are counted anew")
	b.SendText(1001, "new life")
	require.Equal(t, "new life", f.next()["message"].(fields)["text"], "and the stream goes on")
}

func TestAResetNamesWhereToGoOn(t *testing.T) {
	t.Parallel()
	b := free(t)
	for range 10_005 {
		b.Penalise(5, time.Second)
	}
	for _, after := range []string{"-1", "0", "4", "10006"} {
		f := b.listen("?after="+after, "")
		reset := f.next()
		require.Equal(t, "reset", reset["type"], after)
		require.InDelta(t, 10_005, reset["seq"], 0)
	}
	require.InDelta(t, 6, b.listen("?after=5", "").next()["seq"], 0, "the oldest kept is still there")
}

func TestEveryListenerGetsEveryEventInOrder(t *testing.T) {
	t.Parallel()
	b := free(t)
	var feeds []*feed
	for range 4 {
		feeds = append(feeds, b.listen("?after=0", ""))
	}
	var crowd sync.WaitGroup
	for n := range int64(4) {
		crowd.Go(func() {
			for range 50 {
				b.SendText(1001+n, "x")
			}
		})
	}
	crowd.Wait()
	for _, f := range feeds {
		for n := range 200 {
			require.InDelta(t, n+1, f.next()["seq"], 0)
		}
	}
}

func TestAQuietStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		ctx, leave := context.WithCancel(t.Context())
		rec := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			sim.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/sim/api/events", nil))
		}()
		time.Sleep(46 * time.Second)
		leave()
		<-ended
		require.Equal(t, strings.Repeat(": ok\n\n", 4), rec.Body.String(), "at once, then each 15 s")
	})
}

func TestStreamsEndWithTheirListenerAndWithTheSimulator(t *testing.T) {
	t.Parallel()
	b := free(t)
	f := b.listen("", "")
	b.SendText(1001, "x")
	f.next()
	require.NoError(t, b.Close())
	for f.lines.Scan() {
		require.Empty(t, strings.TrimPrefix(f.lines.Text(), ": ok"), "nothing more is said")
	}
	require.NoError(t, f.lines.Err(), "the stream has a proper end")
}

// TestEventsHaveTheFieldsThatAreDocumented makes each kind of event happen and
// compares the names of its fields with the list in api.go.
func TestEventsHaveTheFieldsThatAreDocumented(t *testing.T) {
	t.Parallel()
	message := []string{"chat_id", "message", "seq", "time", "type"}
	for _, c := range []struct {
		kind   string
		happen func(b *bundle)
		want   []string
	}{
		{"user", func(b *bundle) { b.SendText(1001, "x") }, message},
		{"user", func(b *bundle) { b.SendFile(1001, "a.txt", nil) }, message},
		{"message", func(b *bundle) { b.say(1001, "x") }, message},
		{"edited", func(b *bundle) {
			b.call("editMessageText", params{"chat_id": 1001, "message_id": 2, "text": "new"})
		}, message},
		{"deleted", func(b *bundle) { b.call("deleteMessage", params{"chat_id": 1001, "message_id": 2}) }, message},
		{"press", func(b *bundle) { b.PressButton(1001, 2, "yes") }, []string{"chat_id", "message_id", "seq", "text", "time", "type"}},
		{"typing", func(b *bundle) {
			b.call("sendChatAction", params{"chat_id": 1001, "action": "typing"})
		}, []string{"chat_id", "seq", "text", "time", "type", "until"}},
		{"answer", func(b *bundle) {
			b.Push(json.RawMessage(`{"callback_query":{"id":"1"}}`))
			b.call("answerCallbackQuery", params{"callback_query_id": "1", "text": "ok", "show_alert": true})
		}, []string{"alert", "query", "seq", "text", "time", "type"}},
		{"answer", func(b *bundle) {
			b.Push(json.RawMessage(`{"callback_query":{"id":"1"}}`))
			b.call("answerCallbackQuery", params{"callback_query_id": "1"})
		}, []string{"query", "seq", "time", "type"}},
		{"chat", func(b *bundle) { b.Block(1001) }, []string{"chat", "chat_id", "seq", "time", "type"}},
		{"chat", func(b *bundle) { b.CreateChat(telegramsim.Chat{}) }, []string{"chat", "chat_id", "seq", "time", "type"}},
		{"penalty", func(b *bundle) { b.Penalise(0, time.Minute) }, []string{"chat_id", "seq", "time", "type", "until"}},
		{"penalty", func(b *bundle) { b.Penalise(1001, 0) }, []string{"chat_id", "seq", "time", "type"}},
		{"rate_limited", func(b *bundle) {
			b.Penalise(1001, time.Minute)
			b.call("sendMessage", params{"chat_id": 1001, "text": "x"})
		}, []string{"chat_id", "method", "retry_after", "seq", "time", "type"}},
		{"fault", func(b *bundle) {
			b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus})
			_, _, err := b.post("getMe", nil)
			require.NoError(b.t, err)
		}, []string{"fault", "kind", "method", "seq", "time", "type"}},
		{"flood", func(b *bundle) {
			require.NoError(b.t, b.StartFlood(telegramsim.FloodOptions{Updates: 3}))
		}, []string{"sent", "seq", "time", "type"}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			b.say(1001, "hello")
			f := b.listen("", "")
			c.happen(b)
			e := f.next()
			for e["type"] != c.kind {
				e = f.next()
			}
			require.Equal(t, c.want, keysOf(e))
		})
	}
}

func TestAnEventShowsTheMessageAsItWasThen(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	id := b.say(1001, "one")
	for _, text := range []string{"two", "three"} {
		b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": text})
	}
	f := b.listen("?after=1", "")
	for n, want := range []string{"one", "two", "three"} {
		m := f.next()["message"].(fields)
		require.Equal(t, want, m["text"])
		edits, _ := m["edited"].([]any)
		require.Len(t, edits, n)
	}
}

func TestAViolationIsAnEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		sim.Penalise(1001, time.Minute)
		text(t, sim, 1001)
		time.Sleep(time.Second)
		text(t, sim, 1001)
		ctx, leave := context.WithCancel(t.Context())
		rec := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			sim.Handler().ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, "/sim/api/events?after=0", nil))
		}()
		synctest.Wait()
		leave()
		<-ended
		require.Equal(t, 1, strings.Count(rec.Body.String(), `"violation":true`))
		require.Equal(t, 2, strings.Count(rec.Body.String(), `"type":"penalty"`), "started, and grown")
		require.Contains(t, rec.Body.String(), fmt.Sprintf(`"retry_after":%d`, 120))
	})
}

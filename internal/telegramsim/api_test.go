package telegramsim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// admin calls the admin API and decodes its answer.
func (b *bundle) admin(verb, path, body string, status int, into any) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), verb, b.url+"/sim/api"+path, strings.NewReader(body))
	require.NoError(b.t, err)
	resp, raw, err := b.do(req)
	require.NoError(b.t, err)
	require.Equal(b.t, status, resp.StatusCode, string(raw))
	require.Equal(b.t, "application/json", resp.Header.Get("Content-Type"))
	if into != nil {
		require.NoError(b.t, json.Unmarshal(raw, into))
	}
}

type fields = map[string]any

func TestPageCanTalkToTheBot(t *testing.T) {
	t.Parallel()
	b := free(t)
	var chat fields
	b.admin("POST", "/chats", `{"name":"Ann","username":"ann"}`, 200, &chat)
	require.Equal(t, fields{"id": "1001", "type": "private", "title": "Ann", "username": "ann", "state": "open", "unread": 0.0}, chat)
	var sent map[string]string
	b.admin("POST", "/chats/1001/send", `{"text":"hello"}`, 200, &sent)
	require.NotEqual(t, "0", sent["update_id"])
	b.say(1001, "hi Ann")
	b.admin("POST", "/chats/1001/press", `{"message_id":"2","data":"yes"}`, 200, &sent)
	require.NotEqual(t, "0", sent["update_id"])
	b.admin("POST", "/updates", `{"message":{"date":1}}`, 200, &sent)
	require.Equal(t, 3, b.Pending())

	var list struct{ Messages []fields }
	b.admin("GET", "/chats/1001/messages", "", 200, &list)
	require.Len(t, list.Messages, 2)
	require.Equal(t, "Ann", list.Messages[0]["from_name"])
	require.Equal(t, "hi Ann", list.Messages[1]["text"])
	require.Equal(t, "2", list.Messages[1]["id"])
	require.Equal(t, true, list.Messages[1]["from_bot"])
	b.admin("GET", "/chats/1001/messages?before=2", "", 200, &list)
	require.Len(t, list.Messages, 1)
	b.admin("GET", "/chats/1001/messages?limit=1", "", 200, &list)
	require.Equal(t, "hi Ann", list.Messages[0]["text"])
	b.admin("GET", "/ledger?chat_id=1001", "", 200, &list)
	require.Len(t, list.Messages, 1)
}

func TestStateShowsWhatThePageNeeds(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "hello")
	b.say(1001, "hi")
	b.call("sendChatAction", params{"chat_id": 1001, "action": "typing"})
	b.admin("POST", "/chats/1001/penalise", `{"seconds":60}`, 200, nil)
	b.admin("POST", "/chats/1001/block", "", 200, nil)
	var state struct {
		Bot       map[string]string
		Chats     []fields
		Penalties []fields
		Faults    []fields
		Limits    fields
		EventSeq  float64 `json:"event_seq"`
		Pending   int
		Requests  struct {
			Total    int
			Accepted int
			ByMethod map[string]int `json:"by_method"`
		}
	}
	b.admin("GET", "/state", "", 200, &state)
	require.Equal(t, "durabot_sim_bot", state.Bot["username"])
	require.Equal(t, "blocked", state.Chats[0]["state"])
	require.InDelta(t, 1, state.Chats[0]["unread"], 0)
	require.Contains(t, state.Chats[0], "typing_until")
	require.Equal(t, "hi", state.Chats[0]["last"].(fields)["text"])
	require.Equal(t, "1001", state.Penalties[0]["chat_id"])
	require.Equal(t, true, state.Limits["off"])
	require.Positive(t, state.EventSeq)
	require.Equal(t, 2, state.Pending)
	require.Equal(t, 1, state.Requests.ByMethod["sendMessage"])
	require.Equal(t, 1, state.Requests.Accepted, "a chat action is no message")
	b.admin("POST", "/chats/1001/read", "", 200, nil)
	b.admin("GET", "/state", "", 200, &state)
	require.InDelta(t, 0, state.Chats[0]["unread"], 0)
}

func TestFaultsAndLimitsAreSetOverHTTP(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "hello")
	var id map[string]int
	b.admin("POST", "/faults", `{"method":"sendMessage","chat_id":"1001","kind":"status_after","wait_ms":5}`, 200, &id)
	resp, _, err := b.post("sendMessage", params{"chat_id": 1001, "text": "x"})
	require.NoError(t, err)
	require.Equal(t, 502, resp.StatusCode)
	var state struct{ Faults []fields }
	b.admin("GET", "/state", "", 200, &state)
	require.InDelta(t, 1, state.Faults[0]["hits"], 0)
	b.admin("DELETE", "/faults/1", "", 200, nil)
	b.admin("DELETE", "/faults/1", "", 404, nil)
	b.admin("POST", "/faults", `{"kind":"hang"}`, 200, nil)
	b.admin("DELETE", "/faults", "", 200, nil)
	b.say(1001, "fine")
	b.admin("POST", "/faults", `{"kind":"nonsense"}`, 400, nil)

	var limits fields
	b.admin("POST", "/limits", `{"per_chat":1}`, 200, &limits)
	require.InDelta(t, 1, limits["per_chat"], 0)
	require.InDelta(t, 3000, limits["per_chat_ms"], 0)
	b.say(1001, "one")
	require.Equal(t, 429, b.call("sendMessage", params{"chat_id": 1001, "text": "two"}).Code)
	var log struct{ Requests []fields }
	b.admin("GET", "/requests?limit=1", "", 200, &log)
	require.InDelta(t, 429, log.Requests[0]["status"], 0)
	require.Equal(t, "1001", log.Requests[0]["chat_id"])
}

func TestAdminMistakesAreNamed(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "hello")
	b.SendText(-5, "hello")
	for path, status := range map[string]int{
		"/chats/abc/send": 400, "/chats/1001/send": 400, "/chats/1001/dance": 404, "/chats/9/block": 404,
		"/chats/1001/migrate": 400, "/chats/-5/migrate": 200, "/nothing": 404, "/chats/1001/kick": 200,
		"/chats/1001/unblock": 200, "/chats/1001/deactivate": 200,
	} {
		b.admin("POST", path, "{}", status, nil)
	}
	b.admin("POST", "/chats", "{", 400, nil)
	b.admin("GET", "/chats/9/messages", "", 404, nil)
	b.admin("GET", "/chats/x/messages", "", 400, nil)
}

// stream reads events after seq until it has n of them.
func (b *bundle) stream(after string, n int, happen func()) []fields {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), soon)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/sim/api/events?after="+after, nil)
	require.NoError(b.t, err)
	resp, err := b.client.Do(req)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	require.Equal(b.t, "text/event-stream", resp.Header.Get("Content-Type"))
	happen()
	var events []fields
	for lines := bufio.NewScanner(resp.Body); len(events) < n && lines.Scan(); {
		if data, isData := strings.CutPrefix(lines.Text(), "data: "); isData {
			var e fields
			require.NoError(b.t, json.Unmarshal([]byte(data), &e))
			events = append(events, e)
		}
	}
	return events
}

func TestEveryChangeIsAnEvent(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{Limits: telegramsim.Limits{PerChat: 5}})
	events := b.stream("0", 14, func() {
		b.SendText(1001, "hello")
		b.call("sendChatAction", params{"chat_id": 1001, "action": "typing"})
		id := b.say(1001, "hi")
		b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": "hi!"})
		b.PressButton(1001, id, "yes")
		b.call("deleteMessage", params{"chat_id": 1001, "message_id": id})
		b.Push([]byte(`{"callback_query":{"id":"1"}}`))
		b.call("answerCallbackQuery", params{"callback_query_id": "1", "text": "ok"})
		b.say(1001, "4")
		b.say(1001, "5")
		b.call("sendMessage", params{"chat_id": 1001, "text": "6"})
		b.Block(1001)
		b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus})
		_, _, err := b.post("getMe", nil)
		require.NoError(t, err)
		require.NoError(t, b.StartFlood(telegramsim.FloodOptions{Updates: 1}))
	})
	var types []string
	for i, e := range events {
		require.InDelta(t, i+1, e["seq"], 0)
		types = append(types, e["type"].(string))
	}
	require.Equal(t, []string{
		"user", "typing", "message", "edited", "press", "deleted", "answer", "message", "message",
		"penalty", "rate_limited", "chat", "fault", "user",
	}, types)
	require.Equal(t, "hi!", events[3]["message"].(fields)["text"])
	require.Equal(t, "1001", events[4]["chat_id"])
	require.Equal(t, "status", events[12]["kind"])
}

func TestPageResumesOrIsToldToReload(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "one")
	b.SendText(1001, "two")
	resumed := b.stream("1", 1, func() {})
	require.Equal(t, "two", resumed[0]["message"].(fields)["text"])
	require.Equal(t, "reset", b.stream("99", 1, func() {})[0]["type"], "a seq of an earlier life")
	for range 10_000 {
		b.Penalise(5, time.Second)
	}
	require.Equal(t, "reset", b.stream("1", 1, func() {})[0]["type"], "forgotten events")
	require.Equal(t, "penalty", b.stream("10001", 1, func() {})[0]["type"])
}

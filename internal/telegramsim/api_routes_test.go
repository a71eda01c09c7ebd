package telegramsim_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// keysOf names the members of an object.
func keysOf(o fields) []string { return slices.Sorted(maps.Keys(o)) }

// TestEveryRouteRefusesWhatItCannotRead is the table of bad input: path, body,
// and the status that names the mistake.
func TestEveryRouteRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb, path, body string
		status           int
	}{
		{"GET", "/", "", 404},
		{"GET", "/nothing", "", 404},
		{"DELETE", "/state", "", 404},
		{"PUT", "/chats", "{}", 404},
		{"GET", "/chats/x/messages", "", 400},
		{"GET", "/chats/1.5/messages", "", 400},
		{"GET", "/chats/9/messages", "", 404},
		{"POST", "/chats", "{", 400},
		{"POST", "/chats", `{"id":5}`, 400},
		{"POST", "/chats", `{"id":"five"}`, 400},
		{"POST", "/chats", `[]`, 400},
		{"POST", "/chats/x/send", "{}", 400},
		{"POST", "/chats/0/send", `{"text":"x"}`, 400},
		{"POST", "/chats/1001/send", `{}`, 400},
		{"POST", "/chats/1001/send", `{"text":""}`, 400},
		{"POST", "/chats/1001/send", `{"text":7}`, 400},
		{"POST", "/chats/1001/send", `{"text":"x","from_id":7}`, 400},
		{"POST", "/chats/1001/press", `{"message_id":2}`, 400},
		{"POST", "/chats/1001/press", `not json`, 400},
		{"POST", "/chats/99999999999999999999/block", "", 400},
		{"POST", "/chats/9/block", "", 404},
		{"POST", "/chats/9/unblock", "", 404},
		{"POST", "/chats/9/kick", "", 404},
		{"POST", "/chats/9/deactivate", "", 404},
		{"POST", "/chats/9/migrate", "", 400},
		{"POST", "/chats/-9/migrate", "", 400},
		{"POST", "/chats/-1000000000001/migrate", "", 400},
		{"POST", "/chats/1001/migrate", "", 400},
		{"POST", "/chats/1001/sing", "", 404},
		{"POST", "/chats/1001/penalise", `{"seconds":"long"}`, 400},
		{"POST", "/updates", `{"message":`, 400},
		{"POST", "/flood", `{"updates":"many"}`, 400},
		{"POST", "/flood", `{"first_chat":5}`, 400},
		{"POST", "/flood", `{}`, 400},
		{"POST", "/flood", `{"updates":1,"per_second":-1}`, 400},
		{"POST", "/flood", `{"updates":1,"first_chat":"-5"}`, 400},
		{"POST", "/faults", `{}`, 400},
		{"POST", "/faults", `{"kind":"explode"}`, 400},
		{"POST", "/faults", `{"kind":"hang","chat_id":5}`, 400},
		{"POST", "/faults", `{"kind":7}`, 400},
		{"DELETE", "/faults/1", "", 404},
		{"DELETE", "/faults/one", "", 404},
		{"POST", "/limits", `{"per_chat":"one"}`, 400},
		{"POST", "/limits", `{"per_chat":1.5}`, 400},
	} {
		t.Run(fmt.Sprint(c.verb, c.path, c.body), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "hello")
			b.SendText(-1_000_000_000_001, "hello")
			var answer map[string]string
			b.admin(c.verb, c.path, c.body, c.status, &answer)
			require.NotEmpty(t, answer["error"])
			require.Len(t, answer, 1)
			require.Len(t, b.Chats(), 2, "a mistake changes nothing")
			require.Equal(t, 2, b.Pending())
		})
	}
}

func TestAdminBodiesAreBounded(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.admin("POST", "/chats/1001/send", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`, 400, nil)
	b.admin("POST", "/updates", `{"message":{"text":"`+strings.Repeat("x", 1<<20)+`"}}`, 400, nil)
	require.Zero(t, b.Pending())
}

func TestOddQueryNumbersAreTheirDefaults(t *testing.T) {
	t.Parallel()
	b := free(t)
	for n := range 205 {
		b.say(b.CreateChat(telegramsim.Chat{ID: 1001}).ID, fmt.Sprint(n))
	}
	for query, want := range map[string]int{
		"": 200, "?limit=x": 200, "?limit=": 200, "?limit=0": 0, "?limit=-5": 0, "?limit=3": 3, "?limit=999": 205,
		"?before=x": 200, "?before=0": 200, "?before=1": 0, "?before=4": 3, "?before=4&limit=2": 2, "?before=-1": 200,
	} {
		var list struct{ Messages []fields }
		b.admin("GET", "/chats/1001/messages"+query, "", 200, &list)
		require.Len(t, list.Messages, want, query)
		require.NotNil(t, list.Messages, "an empty list is [], not null: %s", query)
	}
	var ledger struct{ Messages []fields }
	b.admin("GET", "/ledger", "", 200, &ledger)
	require.Len(t, ledger.Messages, 205)
	b.admin("GET", "/ledger?chat_id=7", "", 200, &ledger)
	require.Empty(t, ledger.Messages)
	for query, want := range map[string]int{"": 100, "?limit=x": 100, "?limit=0": 0, "?limit=-1": 0, "?limit=500": 205} {
		var log struct{ Requests []fields }
		b.admin("GET", "/requests"+query, "", 200, &log)
		require.Len(t, log.Requests, want, query)
	}
}

// TestViewsHaveTheShapesThatAreDocumented holds each view to its list of fields:
// the page, and scripts of users, read them by name.
func TestViewsHaveTheShapesThatAreDocumented(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{NoPollRules: true})
	b.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann", Username: "ann"})
	b.SendText(-5, "hello")
	b.Migrate(-5)
	first := b.say(1001, "one")
	b.call("editMessageText", params{"chat_id": 1001, "message_id": first, "text": "two"})
	b.sendFiles("sendDocument", params{"chat_id": 1001, "reply_to_message_id": first, "reply_markup": `{"inline_keyboard":[]}`},
		upload{"document", "a.txt", "x"})
	b.call("deleteMessage", params{"chat_id": 1001, "message_id": 2})
	b.call("sendMessage", params{"chat_id": 1001, "text": "too many"})
	b.call("getUpdates", params{"offset": 1})
	b.Fault(telegramsim.Fault{Kind: telegramsim.FaultStatus, Header: http.Header{"X-A": {"b"}}})

	var list struct{ Messages []fields }
	b.admin("GET", "/chats/1001/messages", "", 200, &list)
	require.Equal(t, []string{
		"chat_id", "edited", "from_bot", "from_id", "from_name", "id", "method", "params", "seq", "text", "time", "update_id",
	}, keysOf(list.Messages[0]))
	require.Equal(t, []string{"text", "time"}, keysOf(list.Messages[0]["edited"].([]any)[0].(fields)))
	require.Equal(t, []string{
		"chat_id", "deleted", "file_id", "files", "from_bot", "from_id", "from_name", "id", "markup", "method", "params", "reply_to",
		"seq", "text", "time", "update_id",
	}, keysOf(list.Messages[1]))
	require.Equal(t, fields{"field": "document", "name": "a.txt", "size": 1.0}, list.Messages[1]["files"].([]any)[0])

	var state fields
	b.admin("GET", "/state", "", 200, &state)
	require.Equal(t, []string{
		"bot", "chats", "confirmed", "event_seq", "faults", "flood", "last_poll", "limits", "penalties", "pending", "polling", "requests",
	}, keysOf(state))
	require.Equal(t, fields{"id": "700000001", "username": "durabot_sim_bot", "name": "Simulated bot"}, state["bot"])
	chats := state["chats"].([]any)
	require.Equal(t, []string{"id", "last", "state", "title", "type", "unread", "username"}, keysOf(chats[0].(fields)))
	require.Equal(t, []string{"id", "last", "moved_to", "state", "title", "type", "unread"}, keysOf(chats[1].(fields)))
	require.Equal(t, []string{"chat_id", "until"}, keysOf(state["penalties"].([]any)[0].(fields)))
	require.Equal(t, []string{
		"body", "chat_id", "header", "hits", "id", "kind", "method", "nth", "status", "times", "wait_ms",
	}, keysOf(state["faults"].([]any)[0].(fields)))
	require.Equal(t, []string{"accepted", "by_method", "limited", "stars", "total", "violations"}, keysOf(state["requests"].(fields)))
	require.Equal(t, fields{"running": false, "sent": 0.0, "updates": 0.0}, state["flood"])

	var log struct{ Requests []fields }
	b.admin("GET", "/requests", "", 200, &log)
	require.Equal(t, []string{"answered", "arrived", "chat_id", "files", "method", "params", "seq", "status"}, keysOf(log.Requests[2]))
	require.Equal(t, []string{"answered", "arrived", "chat_id", "method", "params", "retry_after", "seq", "status"}, keysOf(log.Requests[4]))
	require.Equal(t, "1", log.Requests[5]["offset"])
}

func TestIDsAreTextSoThatBrowsersKeepThem(t *testing.T) {
	t.Parallel()
	b := free(t)
	const large = -1_009_007_199_254_740_993
	var chat fields
	b.admin("POST", "/chats", fmt.Sprintf(`{"id":"%d","type":"channel","title":"News"}`, large), 200, &chat)
	require.Equal(t, fmt.Sprint(large), chat["id"])
	require.Equal(t, "channel", chat["type"])
	b.say(large, "x")
	var ledger struct{ Messages []fields }
	b.admin("GET", fmt.Sprintf("/ledger?chat_id=%d", large), "", 200, &ledger)
	require.Equal(t, fmt.Sprint(large), ledger.Messages[0]["chat_id"])
}

func TestStateStartsEmptyRatherThanNull(t *testing.T) {
	t.Parallel()
	var state fields
	free(t).admin("GET", "/state", "", 200, &state)
	for _, name := range []string{"chats", "penalties", "faults"} {
		require.Equal(t, []any{}, state[name], name)
	}
	require.NotContains(t, state, "last_poll")
	require.NotContains(t, state, "webhook")
	require.Equal(t, false, state["polling"])
}

func TestStateTellsOfAWaitingPollAndAWebhook(t *testing.T) {
	t.Parallel()
	b := free(t)
	ended := make(chan error, 1)
	go func() {
		_, _, err := b.post("getUpdates", params{"timeout": 50})
		ended <- err
	}()
	var state fields
	require.Eventually(t, func() bool {
		state = nil
		b.admin("GET", "/state", "", 200, &state)
		return state["polling"] == true
	}, soon, time.Millisecond)
	require.True(t, b.call("setWebhook", params{"url": "https://example.org/hook"}).OK)
	require.NoError(t, <-ended)
	state = nil
	b.admin("GET", "/state", "", 200, &state)
	require.Equal(t, false, state["polling"])
	require.Equal(t, "https://example.org/hook", state["webhook"])
	require.Contains(t, state, "last_poll")
}

func TestPenaltiesAreStartedAndEndedOverHTTP(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.admin("POST", "/chats/0/penalise", `{"seconds":60}`, 200, nil)
	require.Equal(t, 429, b.call("sendMessage", params{"chat_id": 1001, "text": "x"}).Code, "chat 0 is the whole bot")
	b.admin("POST", "/chats/0/penalise", `{"seconds":0}`, 200, nil)
	b.say(1001, "x")
	b.admin("POST", "/chats/1001/penalise", `{"seconds":0.5}`, 200, nil)
	require.Equal(t, 1, b.call("sendMessage", params{"chat_id": 1001, "text": "x"}).Parameters.RetryAfter, "told in whole seconds")
	b.admin("POST", "/chats/1001/penalise", ``, 200, nil)
	b.say(1001, "an empty body ends it")
}

func TestActionsAnswerWithTheChatAsItIsNow(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "hello")
	b.SendText(-5, "hello")
	for _, c := range []struct{ path, state string }{
		{"/chats/1001/block", "blocked"},
		{"/chats/1001/block", "blocked"},
		{"/chats/1001/unblock", "open"},
		{"/chats/1001/deactivate", "deactivated"},
		{"/chats/-5/kick", "kicked"},
		{"/chats/-5/unblock", "open"},
	} {
		var chat fields
		b.admin("POST", c.path, "", 200, &chat)
		require.Equal(t, c.state, chat["state"], c.path)
	}
	var moved, again map[string]string
	b.admin("POST", "/chats/-5/migrate", "", 200, &moved)
	b.admin("POST", "/chats/-5/migrate", "", 200, &again)
	require.Equal(t, moved, again)
	require.Equal(t, telegramsim.ChatMigrated, b.Chats()[1].State)
}

func TestUpdatesThatAreNotQueuedAreZero(t *testing.T) {
	t.Parallel()
	b := free(t)
	for path, body := range map[string]string{
		"/updates":          `{"message_reaction":{}}`,
		"/chats/1001/press": `{"message_id":"9","data":"x"}`,
		"/chats/-5/send":    `{"text":"x"}`,
		"/chats/4/press":    `{}`,
		"/updates?a=list":   `[1]`,
		"/updates?a=empty":  ``,
		"/updates?a=null":   `null`,
		"/updates?a=old":    `{"message":{"date":1000000000}}`,
	} {
		b.SendText(-5, "hello")
		b.Kick(-5)
		b.SendText(1001, "hello")
		pending := b.Pending()
		var sent map[string]string
		b.admin("POST", path, body, 200, &sent)
		require.Equal(t, map[string]string{"update_id": "0"}, sent, path)
		require.Equal(t, pending, b.Pending())
		b.Unblock(-5)
	}
}

func TestAGroupTextCanNameItsSender(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.admin("POST", "/chats", `{"id":"42","name":"Ann"}`, 200, nil)
	b.admin("POST", "/chats/-5/send", `{"text":"hi","from_id":"42"}`, 200, nil)
	b.admin("POST", "/chats/-5/send", `{"text":"hi"}`, 200, nil)
	var list struct{ Messages []fields }
	b.admin("GET", "/chats/-5/messages", "", 200, &list)
	require.Equal(t, "Ann", list.Messages[0]["from_name"])
	require.Equal(t, "User 600000005", list.Messages[1]["from_name"])
	require.Equal(t, false, list.Messages[0]["from_bot"])
}

func TestAMessageNamesTheUpdateItBecame(t *testing.T) {
	t.Parallel()
	b := free(t)
	id := b.SendText(42, "hi")
	b.admin("POST", "/chats/42/send", `{"text":"again"}`, 200, nil)
	var list struct{ Messages []fields }
	b.admin("GET", "/chats/42/messages", "", 200, &list)
	require.Equal(t, strconv.FormatInt(id, 10), list.Messages[0]["update_id"])
	require.Equal(t, strconv.FormatInt(id+1, 10), list.Messages[1]["update_id"])
	require.Zero(t, b.Accepted(), "none of them is the bot's")
}

func TestReadingAnUnknownChatIsNoError(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.admin("POST", "/chats/9/read", "", 200, nil)
	require.Empty(t, b.Chats())
}

func TestLimitsAreEchoedWithTheirDefaults(t *testing.T) {
	t.Parallel()
	b := free(t)
	defaults := fields{
		"per_chat": 3.0, "per_chat_ms": 3000.0, "per_group": 20.0, "per_group_ms": 60000.0, "global": 30.0, "global_ms": 1000.0,
		"paid_per_second": 1000.0, "off": false, "album_as_one": false, "utf16": false, "penalty_factor": 2.0, "max_penalty_ms": 21600000.0,
	}
	for body, changed := range map[string]fields{
		``: {}, `{}`: {},
		`{"per_chat":-1}`:                          {"per_chat": -1.0},
		`{"per_group":7,"per_group_ms":1500}`:      {"per_group": 7.0, "per_group_ms": 1500.0},
		`{"off":true,"album_as_one":true}`:         {"off": true, "album_as_one": true},
		`{"penalty_factor":1,"max_penalty_ms":50}`: {"penalty_factor": 1.0, "max_penalty_ms": 50.0},
		`{"penalty_factor":0.5}`:                   {},
		`{"global":1,"global_ms":-5}`:              {"global": 1.0},
		`{"paid_per_second":-1}`:                   {"paid_per_second": -1.0},
	} {
		want := maps.Clone(defaults)
		maps.Copy(want, changed)
		var got fields
		b.admin("POST", "/limits", body, 200, &got)
		require.Equal(t, want, got, body)
		var state struct{ Limits fields }
		b.admin("GET", "/state", "", 200, &state)
		require.Equal(t, want, state.Limits, body)
	}
}

func TestAFaultOverHTTPHasEveryFieldOfAFault(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.admin("POST", "/faults", `{"method":"sendMessage","chat_id":"1001","nth":2,"times":3,"kind":"status","status":503,"body":"{}",
		"header":{"retry-after":["9"]},"wait_ms":250}`, 200, nil)
	var state struct{ Faults []fields }
	b.admin("GET", "/state", "", 200, &state)
	require.Equal(t, fields{
		"id": 1.0, "method": "sendMessage", "chat_id": "1001", "nth": 2.0, "times": 3.0, "kind": "status", "status": 503.0, "body": "{}",
		"header": fields{"retry-after": []any{"9"}}, "wait_ms": 250.0, "hits": 0.0,
	}, state.Faults[0])
	b.say(1001, "the first passes")
	for range 3 {
		resp, raw, err := b.post("sendMessage", params{"chat_id": 1001, "text": "x"})
		require.NoError(t, err)
		require.Equal(t, 503, resp.StatusCode)
		require.Equal(t, "9", resp.Header.Get("Retry-After"))
		require.Equal(t, "{}", string(raw))
	}
	b.say(1001, "and the fifth")
	b.admin("GET", "/state", "", 200, &state)
	require.Empty(t, state.Faults, "a fault that acted its times is gone")
}

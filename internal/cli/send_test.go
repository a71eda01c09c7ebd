package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/telegramsim"
)

func TestWrongUsageOfSendSaysWhatToDoAndQuotesNoText(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "params.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"text":"SECRET}`), 0o600))
	for name, row := range map[string]struct {
		args []string
		want string
	}{
		"nothing":            {[]string{"--chat", "42"}, "nothing to send: give --text, or --method with --params"},
		"both":               {[]string{"--chat", "42", "--text", "SECRET", "--method", "sendMessage"}, "--text or --method with --params: give one of them"},
		"text and params":    {[]string{"--chat", "42", "--text", "SECRET", "--params", "{}"}, "--text or --method with --params: give one of them"},
		"params alone":       {[]string{"--params", "{}"}, "--params: say with --method whose they are, such as sendPhoto"},
		"empty text":         {[]string{"--chat", "42", "--text", " \n"}, "--text: it is empty, and Telegram takes no empty message"},
		"text of no UTF-8":   {[]string{"--chat", "42", "--text", "SECRET\xff"}, "--text: it is no UTF-8"},
		"no chat":            {[]string{"--text", "SECRET"}, "--chat: say to whom: a chat id such as 42, or @name"},
		"chat":               {[]string{"--chat", "everybody", "--text", "SECRET"}, `--chat: want a chat id such as 42 or -1001234567890, or @name, got "everybody"`},
		"chat 0":             {[]string{"--chat", "0", "--text", "SECRET"}, `--chat: want a chat id such as 42 or -1001234567890, or @name, got "0"`},
		"two chats":          {[]string{"--chat", "42", "--method", "sendMessage", "--params", `{"chat_id":43}`}, "--chat: the chat_id in --params is another one: leave out one of them"},
		"bad JSON":           {[]string{"--method", "sendMessage", "--params", `{"text":SECRET}`}, `--params: no JSON: it goes wrong at byte 9 of 15; want an object such as {"text":"hi"}`},
		"no object":          {[]string{"--method", "sendMessage", "--params", `["SECRET"]`}, `--params: want a JSON object such as {"text":"hi"}`},
		"null":               {[]string{"--method", "sendMessage", "--params", "null"}, `--params: want a JSON object such as {"text":"hi"}`},
		"params of no UTF-8": {[]string{"--method", "sendMessage", "--params", "{\"text\":\"SECRET\xff\"}"}, "--params: it is no UTF-8"},
		"no file":            {[]string{"--method", "sendMessage", "--params", "@/nowhere"}, "--params: open /nowhere: no such file or directory"},
		"bad JSON in file":   {[]string{"--method", "sendMessage", "--params", "@" + file}, "--params: " + file + `: no JSON: it goes wrong at byte 16 of 16; want an object such as {"text":"hi"}`},
		"method":             {[]string{"--method", "send message"}, `call: method "send message" is no Bot API method name`},
		"no chat in params":  {[]string{"--method", "sendMessage", "--params", `{"chat_id":0}`}, "call sendMessage: chat_id is 0: this update belongs to no chat"},
		"empty key":          {[]string{"--chat", "42", "--text", "SECRET", "--key", ""}, "--key: it is empty: leave it out to have one made"},
		"key":                {[]string{"--chat", "42", "--text", "SECRET", "--key", "a\nb"}, `--key: '\n' cannot be printed`},
		"ttl":                {[]string{"--chat", "42", "--text", "SECRET", "--ttl", "0"}, "--ttl: want more than 0, got 0s"},
		"two times":          {[]string{"--chat", "42", "--text", "SECRET", "--at", "2030-01-31T09:00:00Z", "--in", "1m"}, "--at or --in: give one of them"},
		"in":                 {[]string{"--chat", "42", "--text", "SECRET", "--in", "-1m"}, "--in: want 0 or more, got -1m0s"},
		"at":                 {[]string{"--chat", "42", "--text", "SECRET", "--at", "tomorrow"}, `--at: want a time such as 2030-01-31T09:00:00Z or 2030-01-31T09:00:00+02:00, got "tomorrow"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t.Context(), map[string]string{"DURABOT_BOT": "7", "TEMPORAL_ADDRESS": "127.0.0.1:1"}, append([]string{"send"}, row.args...)...)
			require.Equal(t, 2, got.code)
			require.Equal(t, "durabot: "+row.want+"\n", got.errout)
			require.NotContains(t, got.out+got.errout, "SECRET")
		})
	}
}

func TestAKeyOfAHandlerIsRefused(t *testing.T) {
	t.Parallel()
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1"}, "send", "--chat", "42", "--text", "x", "--key", "update-5-0")
	require.Equal(t, 2, c.code)
	require.Contains(t, c.errout, "--key: update-5-0 is of the form that calls of a handler get: choose another")
}

// Whatever is given as parameters, what is sent is that object with its numbers
// as they were written, or an error that quotes nothing.
func FuzzParams(f *testing.F) {
	for _, seed := range []string{`{"text":"<b>&\u2028"}`, `{"chat_id":9007199254740993,"n":1.0}`, `{}`, `null`, `[]`, `{"chat_id":null}`, `{"chat_id":"@x"}`, `{`, "@", "{\"a\":\"\xff\"}"} {
		f.Add(seed, "42")
	}
	f.Fuzz(func(t *testing.T, text, chat string) {
		if strings.HasPrefix(text, "@") {
			t.Skip("a file")
		}
		object, err := cli.SendParams(text, chat)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		var sent map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(object, &sent))
		var given map[string]json.RawMessage
		_ = json.Unmarshal([]byte(text), &given)
		if chat != "" {
			require.NotEmpty(t, sent["chat_id"])
		}
		for name, value := range given {
			if name == "chat_id" {
				continue
			}
			require.JSONEq(t, string(value), string(sent[name]))
		}
	})
}

// sent is the JSON that scripts rely on.
type sent struct {
	Key        string     `json:"key"`
	WorkflowID string     `json:"workflow_id"`
	Duplicate  bool       `json:"duplicate"`
	ChatID     string     `json:"chat_id"`
	Method     string     `json:"method"`
	Outcome    string     `json:"outcome"`
	Reason     string     `json:"reason"`
	MessageID  string     `json:"message_id"`
	Attempts   int        `json:"attempts"`
	Error      string     `json:"error"`
	AcceptedAt time.Time  `json:"accepted_at"`
	ClosedAt   *time.Time `json:"closed_at"`
}

func TestTheAnswerOfSendHasEveryFieldHoweverItWent(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TEMPORAL_ADDRESS": temporal(t), "TELEGRAM_BOT_TOKEN": newToken()}
	c := run(t.Context(), env, "send", "--method", "setMyCommands", "--params", `{"commands":[]}`, "--key", "k", "-o", "json")
	require.Zero(t, c.code, c.errout)
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(c.out), &fields))
	bot, _, _ := strings.Cut(env["TELEGRAM_BOT_TOKEN"], ":")
	accepted, err := time.Parse(time.RFC3339Nano, fields["accepted_at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), accepted, time.Minute)
	delete(fields, "accepted_at")
	require.Equal(t, map[string]any{
		"key": "k", "workflow_id": "message/" + bot + "/k", "duplicate": false, "chat_id": "", "method": "setMyCommands",
		"outcome": "pending", "reason": "", "message_id": "", "possible_duplicate": false, "degraded": false, "overtaken": false,
		"attempts": 0.0, "error": "", "closed_at": nil,
		"message_ids": []any{}, "dead_letter": "", "state": "accepted", "next_attempt_at": nil, "due_at": nil,
		"after": "", "after_delivered": false,
	}, fields)
}

func (o operator) send(t *testing.T, code int, args ...string) (sent, console) {
	t.Helper()
	c := run(t.Context(), o.env, append([]string{"send", "-o", "json"}, args...)...)
	require.Equal(t, code, c.code, c.errout)
	require.NotContains(t, c.out+c.errout, "PRIVATE")
	var s sent
	if c.out != "" {
		require.NoError(t, json.Unmarshal([]byte(c.out), &s))
	}
	return s, c
}

// meet has a person write to the bot, which may write to nobody before, and be answered.
func (o operator) meet(t *testing.T, chat int64) {
	t.Helper()
	o.SendText(chat, "good day")
	require.Eventually(t, func() bool { return len(o.Ledger(chat)) == 1 }, patience, 20*time.Millisecond)
}

func TestAMessageIsSentOnceForItsKey(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	hello := []string{"--chat", "42", "--text", "hello PRIVATE", "--key", "order-9", "--wait"}
	first, _ := o.send(t, 0, hello...)
	require.Equal(t, "delivered", first.Outcome)
	require.Equal(t, fmt.Sprintf("message/%d/order-9", o.bot()), first.WorkflowID)
	require.Equal(t, "42", first.ChatID)
	require.NotEmpty(t, first.MessageID)
	require.Equal(t, 1, first.Attempts)
	require.False(t, first.Duplicate)
	require.True(t, first.ClosedAt.After(first.AcceptedAt))

	for _, again := range [][]string{hello, hello[:6]} {
		second, _ := o.send(t, 0, again...)
		require.True(t, second.Duplicate)
		require.Equal(t, first.MessageID, second.MessageID, "its outcome is told, waited for or not")
	}
	_, c := o.send(t, 1, "--chat", "42", "--text", "something else PRIVATE", "--key", "order-9")
	require.Equal(t, "durabot: --key order-9: the key belongs to a message with another method, other parameters or another policy: "+
		"nothing was sent; choose another key\n", c.errout)
	require.Empty(t, c.out)
	require.Len(t, o.Ledger(42), 2, "beside the answer")

	c = run(t.Context(), o.env, append([]string{"send"}, hello...)...)
	require.Regexp(t, `^duplicate of \d{4}-\S+ \S+, nothing is sent again: sendMessage → chat 42: delivered, message \d+, 1 attempt, \S+, as message/\d+/order-9\n$`, c.out)
}

func TestAMessageThatDiesIsExitCodeOneAndStillTold(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	o.Fault(telegramsim.Fault{
		Method: "sendMessage", ChatID: 42, Kind: telegramsim.FaultStatus, Status: 400, Times: 1,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: can't parse entities"}`,
	})
	s, c := o.send(t, 1, "--chat", "42", "--method", "sendMessage", "--params", `{"text":"PRIVATE"}`, "--wait")
	require.Equal(t, "dead", s.Outcome)
	require.Equal(t, "rejected", s.Reason)
	require.NotEmpty(t, s.Error)
	require.Equal(t, "durabot: "+s.WorkflowID+" was not delivered: dead (rejected): see `durabot dead show message/"+s.Key+"`\n", c.errout)

	o.meet(t, 43)
	o.Block(43)
	s, _ = o.send(t, 1, "--chat", "43", "--text", "hello PRIVATE", "--wait")
	require.Equal(t, "unreachable", s.Outcome)
	require.Empty(t, s.Reason)
}

func TestAnInterruptEndsTheWaitAndNotTheMessage(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	o.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: 42, Kind: telegramsim.FaultStatus, Status: 429, Times: 1, Body: `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 4","parameters":{"retry_after":4}}`})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	c := run(ctx, o.env, "send", "--chat", "42", "--text", "hello PRIVATE", "--key", "k", "--wait", "-o", "json")
	require.Equal(t, 1, c.code)
	require.Regexp(t, `^durabot: no longer waiting: message/\d+/k is accepted and goes on\n$`, c.errout)
	require.Contains(t, c.out, `"outcome": "pending"`)
	require.Contains(t, c.out, `"closed_at": null`)
	s, _ := o.send(t, 0, "--chat", "42", "--text", "hello PRIVATE", "--key", "k", "--wait")
	require.Equal(t, "delivered", s.Outcome, "asked for again it is waited for again")
	require.Len(t, o.Ledger(42), 2, "beside the answer")
}

func TestAMessageForLaterIsHeldUntilThen(t *testing.T) {
	t.Parallel()
	o := running(t, "default")
	o.meet(t, 42)
	later := []string{"--chat", "42", "--text", "hello PRIVATE", "--key", "later", "--in", "10s"}
	began := time.Now()
	s, _ := o.send(t, 0, later...)
	require.Equal(t, "pending", s.Outcome)
	c := run(t.Context(), o.env, append([]string{"send"}, later...)...)
	require.Regexp(t, `nothing is sent again: sendMessage → chat 42: held, next at \d\d:\d\d:\d\d, as message/\d+/later\n$`, c.out)
	s, _ = o.send(t, 0, append(later, "--wait")...)
	require.Equal(t, "delivered", s.Outcome)
	require.GreaterOrEqual(t, time.Since(began), 10*time.Second, "never early")
}

func TestWithoutAProcessAMessageIsAcceptedAllTheSame(t *testing.T) {
	t.Parallel()
	env := map[string]string{"TEMPORAL_ADDRESS": temporal(t), "TELEGRAM_BOT_TOKEN": newToken()}
	c := run(t.Context(), env, "send", "--chat", "@channel_name", "--text", "hello PRIVATE", "--ttl", "1h", "--delivery", "at-most-once", "--priority", "bulk")
	require.Zero(t, c.code, c.errout)
	require.Regexp(t, `^sendMessage → chat @channel_name: accepted, as message/\d+/[0-9a-f-]{36}\n$`, c.out)
}

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/cli"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// file is a file of messages.
func file(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "messages.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600))
	return name
}

func TestALineHasTheFieldsOfTheFlags(t *testing.T) {
	t.Parallel()
	began := time.Now()
	m, err := cli.ParseLine([]byte(`{"chat":"-100","text":"hello <b>","key":"k","priority":"bulk","delivery":"at-most-once","ttl":"1h",
		"in":"10m","split":true,"plain_fallback":true,"after":"j","after_delivered":true}`))
	require.NoError(t, err)
	require.WithinDuration(t, began.Add(10*time.Minute), m.Call.At, time.Minute)
	m.Call.At = time.Time{}
	require.Equal(t, starter.Message{Key: "k", After: "j", AfterDelivered: true, Call: contract.Call{
		Method: "sendMessage", Params: json.RawMessage(`{"chat_id":-100,"text":"hello <b>"}`), Priority: contract.Bulk, Delivery: contract.AtMostOnce,
		TTL: time.Hour, Split: true, PlainFallback: true,
	}}, m)

	m, err = cli.ParseLine([]byte(`{"method":"sendPhoto","params":{"chat_id":9007199254740993,"photo":"x"},"at":"2030-01-31T09:00:00+02:00"}`))
	require.NoError(t, err)
	require.Equal(t, contract.Call{
		Method: "sendPhoto", Params: json.RawMessage(`{"chat_id":9007199254740993,"photo":"x"}`), Priority: contract.Normal, Delivery: contract.AtLeastOnce,
		At: m.Call.At,
	}, m.Call, "a TTL that nobody asked for is none")
	require.True(t, m.Call.At.Equal(time.Date(2030, 1, 31, 7, 0, 0, 0, time.UTC)))
}

func TestAMistakeInALineIsToldByItsFieldAndQuotesNoText(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"chat":42}`:                                        "nothing to send: give text, or method with params",
		`{"chat":42,"txt":"SECRET"}`:                         `unknown field "txt"`,
		`{"chat":42,"text":5}`:                               "text: want a string, got a number",
		`{"chat":42,"text":"SECRET","split":"yes"}`:          "split: want a bool, got a string",
		`{"chat":{},"text":"SECRET"}`:                        `chat: want a chat id such as 42 or -1001234567890, or @name, got "{}"`,
		`{"text":"SECRET"}`:                                  "chat: say to whom: a chat id such as 42, or @name",
		`{"chat":42,"text":"SECRET","method":"x"}`:           "text or method with params: give one of them",
		`{"chat":42,"method":"sendPhoto","params":"SECRET"}`: `params: want a JSON object such as {"text":"hi"}`,
		`{"chat":42,"params":{"text":"SECRET"}}`:             "params: say with method whose they are, such as sendPhoto",
		`{"chat":42,"text":"SECRET","key":""}`:               "key: it is empty: leave it out to have one made",
		`{"chat":42,"text":"SECRET","key":"update-5-0"}`:     "key: update-5-0 is of the form that calls of a handler get: choose another",
		`{"chat":42,"text":"SECRET","priority":"now"}`:       `priority: want one of urgent, normal, bulk, got "now"`,
		`{"chat":42,"text":"SECRET","delivery":"x"}`:         `delivery: want one of at-least-once, at-most-once, got "x"`,
		`{"chat":42,"text":"SECRET","ttl":"soon"}`:           `ttl: want a duration such as 24h or 90s, got "soon"`,
		`{"chat":42,"text":"SECRET","ttl":"0s"}`:             "ttl: want more than 0, got 0s",
		`{"chat":42,"text":"SECRET","at":"noon"}`:            `at: want a time such as 2030-01-31T09:00:00Z or 2030-01-31T09:00:00+02:00, got "noon"`,
		`{"chat":42,"text":"SECRET","in":"-1m"}`:             "in: want 0 or more, got -1m0s",
		`{"chat":42,"text":"SECRET","after":"k","key":"k"}`:  "after: k is the message itself: name the one before it",
		`{"chat":42,"text":"SECRET","after":""}`:             "after: it is empty: want the key of the message that has to end first",
		`{"chat":42,"text":"SECRET","after_delivered":true}`: "after_delivered: say with after which message has to be delivered",
		`{"chat":42,"text":"SECRET"`:                         `no JSON: it goes wrong at byte 26 of 26; want an object such as {"text":"hi"}`,
		`{"chat":42,"text":"SECRET"} {}`:                     `no JSON: it goes wrong at byte 29 of 30; want an object such as {"text":"hi"}`,
		`["SECRET"]`:                                         `want a JSON object such as {"text":"hi"}`,
		"{\"chat\":42,\"text\":\"SECRET\xff\"}":              "it is no UTF-8",
		`{"chat":42,"split":true,"method":"editMessageText","params":{"text":"` + strings.Repeat("SECRET ", 700) + `"}}`: "call editMessageText: ",
	} {
		_, err := cli.ParseLine([]byte(line))
		require.ErrorContains(t, err, want, line)
		require.NotContains(t, err.Error(), "SECRET")
	}
}

func TestAFileWithAMistakeSendsNothing(t *testing.T) {
	t.Parallel()
	lines := []string{`{"chat":42,"text":"SECRET","key":"a"}`, "", `{"chat":42,"text":"SECRET too","key":"a"}`}
	for range 11 {
		lines = append(lines, `{"chat":42,"txt":"SECRET"}`)
	}
	name := file(t, lines...)
	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}, "send", "--from", name)
	require.Equal(t, 2, c.code)
	require.Empty(t, c.out)
	told := strings.Split(strings.TrimSpace(c.errout), "\n")
	require.Len(t, told, 11, "the first ten, and the sum")
	require.Equal(t, name+`:3: key: an earlier line has "a" for another message: choose another key`, told[0])
	require.Equal(t, name+`:4: unknown field "txt"`, told[1])
	require.Equal(t, "durabot: "+name+": 12 mistakes: nothing is sent", told[10])
	require.NotContains(t, c.errout, "SECRET")
}

func TestWrongUsageOfAFileIsToldBeforeItIsRead(t *testing.T) {
	t.Parallel()
	name := file(t, `{"chat":42,"text":"hello"}`)
	const only = ": it is about one message: beside --from only --priority, --delivery, --ttl, --split, --plain-fallback are taken"
	for want, args := range map[string][]string{
		"--wait" + only:                    {"--from", name, "--wait"},
		"--chat" + only:                    {"--from", name, "--chat", "42"},
		"--key" + only:                     {"--from", name, "--key", "k"},
		"--ttl: want more than 0, got -1s": {"--from", name, "--ttl", "-1s"},
		"--from: want a file, or - for standard input":            {"--from", ""},
		"--from: open /nowhere: no such file or directory":        {"--from", "/nowhere"},
		`it is empty: want lines such as {"chat":42,"text":"hi"}`: {"--from", file(t, "", "  ")},
		":2: want at most 2097152 bytes in a line":                {"--from", file(t, "", strings.Repeat("x", 3<<20))},
	} {
		c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}, append([]string{"send"}, args...)...)
		require.Equal(t, 2, c.code, want)
		require.Contains(t, c.errout, want)
	}
}

func TestFilesAreNamedByWhereTheyAreAndNeedNotBeHere(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("cat.jpg")
	require.NoError(t, err)
	m, err := cli.ParseLine([]byte(`{"chat":42,"method":"sendMediaGroup","params":{"media":[{"media":{"@file":"cat.jpg"},"n":9007199254740993}],"x":"@file"}}`))
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"chat_id":42,"media":[{"media":{"@file":%q},"n":9007199254740993}],"x":"@file"}`, here), string(m.Call.Params.(json.RawMessage)))

	c := run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"},
		"send", "--chat", "42", "--method", "sendPhoto", "--params", `{"photo":{"@file":"cat.jpg"}}`)
	require.Equal(t, 1, c.code, "only Temporal is missing")
	require.Contains(t, c.errout, "durabot: "+here+" cannot be read here: it has to be there where the bot sends\n")
	name := file(t, `{"chat":42,"method":"sendPhoto","params":{"photo":{"@file":"/nowhere/cat.jpg"}}}`)
	c = run(t.Context(), map[string]string{"TEMPORAL_ADDRESS": "127.0.0.1:1", "DURABOT_BOT": "7"}, "send", "--from", name)
	require.Contains(t, c.errout, "durabot: 1 line of "+name+" names a file that cannot be read here: it has to be there where the bot sends\n")
}

// Whatever a line holds, it is a message that can be accepted, or an error of one
// line.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		`{"chat":42,"text":"hi"}`, `{"chat":"@name","method":"sendPhoto","params":{"photo":{"@file":"a"}}}`, `{"chat":1e3,"text":"x","at":"2030-01-31T09:00:00Z"}`,
		`{"text":null,"chat":null}`, `[]`, `{`, `{"chat":42,"text":"hi","ttl":"24h","after":"a","split":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := cli.ParseLine(text)
		if err != nil {
			return
		}
		require.NoError(t, starter.CheckKey(m.Key))
		_, err = m.Call.Seal()
		require.NoError(t, err)
		_, err = m.Call.Hash()
		require.NoError(t, err)
	})
}

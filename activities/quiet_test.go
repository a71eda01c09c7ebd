package activities_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

func TestAnErrorDoesNotRepeatTheMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, params, want string }{
		"a tag": {
			`can't parse entities: unsupported start tag "secret" at byte offset 0`, `{"text":"<SECRET>x"}`,
			`can't parse entities: unsupported start tag "…" at byte offset 0`,
		},
		"two tags": {
			`expected "</b>", found "</i>"`, `{"text":"<b>x</i>"}`, `expected "…"`,
		},
		"a button": {
			`inline keyboard button URL 'htp://me' is invalid`, `{"reply_markup":{"inline_keyboard":[[{"url":"htp://me"}]]}}`,
			`inline keyboard button URL '…' is invalid`,
		},
		"quotes inside": {`bad "he said "secret" to me" here`, `{"text":"he said \"secret\" to me"}`, `bad "…" here`},
		"cut off":       {`bad "secret wo`, `{"text":"secret words"}`, `bad "…`},
		"not ours":      {`error message "Too Many Requests"`, `{"text":"x"}`, `error message "Too Many Requests"`},
		"one sign":      {`Character "." is reserved`, `{"text":"x."}`, `Character "." is reserved`},
		"no params":     {`bad "word"`, `no JSON`, `bad "word"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, activities.Quiet(c.text, c.params))
		})
	}
}

func FuzzAQuotedMessageIsHidden(f *testing.F) {
	f.Add("secret words", "unsupported start tag ", " at byte offset 3")
	f.Add(`"`, "", "")
	f.Add(`a"b`, `"`, `"`)
	f.Fuzz(func(t *testing.T, message, before, after string) {
		params, err := json.Marshal(map[string]string{"text": message})
		require.NoError(t, err)
		got := activities.Quiet(before+`"`+message+`"`+after, string(params))
		if strings.ContainsAny(before+message+after, `"'`) || len(strings.TrimSpace(message)) < 2 || !json.Valid([]byte(`"`+message+`"`)) {
			return // what may be hidden then is another question; it must not panic
		}
		require.Equal(t, before+`"…"`+after, got)
	})
}

// Whatever Telegram answers and quotes, the words of a message stand in nothing
// that is stored.
func TestNoMessageTextIsStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.StringMatching(`[A-Z]{3}[a-z "'<>]{6,20}[A-Z]{3}`).Draw(r, "words")
		code := rapid.SampledFrom([]int{400, 401, 403, 404, 429, 500, 502}).Draw(r, "code")
		quoted := rapid.SampledFrom([]string{`: tag "` + words + `" is bad`, `: URL '` + words + `' is bad`, `: "` + words}).Draw(r, "quoted")
		params, err := json.Marshal(map[string]any{"chat_id": 42, "text": words, "caption": "x"})
		require.NoError(t, err)
		w := newWorld(t)
		w.api.script = []error{answered(code, "Refused"+quoted)}
		in := message()
		in.Call.Params = json.RawMessage(params)
		res, err := w.attempt(t, 1, in)
		known := detail(t, direct(t, err))
		stored, err2 := json.Marshal([]any{res, known, w.recorder.last(), err.Error()})
		require.NoError(t, err2)
		escaped, err2 := json.Marshal(words)
		require.NoError(t, err2)
		require.NotContains(t, string(stored), strings.Trim(string(escaped), `"`))
	})
}

const secret = "AAsecretsecretsecretsecretsecretsec"

func token(t *testing.T) telegram.Token {
	t.Helper()
	token, err := telegram.ParseToken("700000001:" + secret)
	require.NoError(t, err)
	return token
}

func TestNoTokenIsStored(t *testing.T) {
	t.Parallel()
	api, err := telegram.New(telegram.Options{BaseURL: "http://127.0.0.1:1", Token: token(t)})
	require.NoError(t, err)
	w := newWorld(t)
	w.API = api
	in := message()
	in.Deadline = time.Now().Add(time.Minute)
	_, err = w.attempt(t, 1, in)
	require.Equal(t, contract.FailureUnavailable, direct(t, err).Type())
	stored, marshalErr := json.Marshal([]any{detail(t, direct(t, err)), w.recorder.last(), err.Error()})
	require.NoError(t, marshalErr)
	require.NotContains(t, string(stored), secret)
	require.Contains(t, string(stored), "refused")
}

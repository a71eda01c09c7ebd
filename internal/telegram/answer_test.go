package telegram_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegram"
)

func TestRetryAfterSurvivesEverySpelling(t *testing.T) {
	t.Parallel()
	const days = 14 * 24 * time.Hour
	for raw, want := range map[string]time.Duration{
		`5`:             5 * time.Second,
		`"5"`:           5 * time.Second,
		`3.7`:           4 * time.Second,
		`"3.2"`:         4 * time.Second,
		`0.001`:         time.Second,
		`10072`:         10072 * time.Second,
		`1209600`:       days,
		`1209601`:       days,
		`99999999999`:   days,
		`1e30`:          days,
		`1e999`:         days,
		`"1e999"`:       days,
		`"Infinity"`:    days,
		`"NaN"`:         0,
		`-1`:            0,
		`-1e999`:        0,
		`0`:             0,
		`null`:          0,
		`""`:            0,
		`"soon"`:        0,
		`true`:          0,
		`[5]`:           0,
		`{"seconds":5}`: 0,
	} {
		t.Run(raw, func(t *testing.T) {
			t.Parallel()
			e := decode(t, 429, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":`+raw+`}}`)
			require.Equal(t, want, e.RetryAfter)
			require.Equal(t, telegram.RateLimited, telegram.Classify(e, "sendMessage"))
		})
	}
}

func TestRetryAfterIsNeverOutOfBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		value := rapid.StringMatching(`-?[0-9]{1,30}(\.[0-9]{1,5})?(e[0-9]{1,4})?`).Draw(r, "value")
		_, e := telegram.Decode(telegram.Token{}, 429, http.Header{"Retry-After": {value}},
			[]byte(`{"ok":false,"description":"Too Many Requests: retry after `+value+`","parameters":{"retry_after":"`+value+`"}}`))
		if e == nil || e.RetryAfter < 0 || e.RetryAfter > 14*24*time.Hour || e.RetryAfter%time.Second != 0 {
			r.Fatalf("%s gave %v", value, e)
		}
	})
}

func TestRetryAfterIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	date := "Tue, 01 Dec 2026 10:00:00 GMT"
	for name, c := range map[string]struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		"only in the text":          {nil, `{"ok":false,"description":"Too Many Requests: retry after 3"}`, 3 * time.Second},
		"text in another case":      {nil, `{"ok":false,"description":"TOO MANY REQUESTS: Retry After 3"}`, 3 * time.Second},
		"only in the header":        {http.Header{"Retry-After": {" 7 "}}, `{"ok":false}`, 7 * time.Second},
		"header on an HTML page":    {http.Header{"Retry-After": {"7"}}, `<html>`, 7 * time.Second},
		"parameters win":            {http.Header{"Retry-After": {"7"}}, `{"ok":false,"description":"retry after 3","parameters":{"retry_after":5}}`, 5 * time.Second},
		"zero falls back to text":   {nil, `{"ok":false,"description":"retry after 3","parameters":{"retry_after":0}}`, 3 * time.Second},
		"date in the header":        {http.Header{"Retry-After": {"Tue, 01 Dec 2026 10:00:30 GMT"}, "Date": {date}}, ``, 30 * time.Second},
		"date without a clock":      {http.Header{"Retry-After": {"Tue, 01 Dec 2026 10:00:30 GMT"}}, ``, 0},
		"date in the past":          {http.Header{"Retry-After": {"Mon, 30 Nov 2026 10:00:00 GMT"}, "Date": {date}}, ``, 0},
		"neither":                   {nil, `{"ok":false,"description":"Too Many Requests"}`, 0},
		"parameters of an odd type": {nil, `{"ok":false,"description":"retry after 3","parameters":[1]}`, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, e := telegram.Decode(testToken(t), 429, c.header, []byte(c.body))
			require.Equal(t, c.want, e.RetryAfter)
		})
	}
}

func TestAWaitInAUsersTextIsNotBelieved(t *testing.T) {
	t.Parallel()
	e := answered(t, 400, `Bad Request: can't parse entities: "retry after 900"`)
	require.Zero(t, e.RetryAfter)
}

func TestNumbersMayComeAsStrings(t *testing.T) {
	t.Parallel()
	e := decode(t, 200, `{"ok":false,"error_code":"429","description":7,"parameters":{"migrate_to_chat_id":"-1001234567890123"}}`)
	require.Equal(t, 429, e.Code)
	require.Equal(t, 200, e.Status)
	require.Equal(t, int64(-1001234567890123), e.MigrateToChatID)
	require.Empty(t, e.Description)

	for _, code := range []string{`0`, `-429`, `99`, `600`, `1e30`, `"x"`, `null`, `[429]`} {
		require.Zero(t, decode(t, 500, `{"ok":false,"error_code":`+code+`}`).Code, code)
	}
	require.Equal(t, int64(-1001), decode(t, 400, `{"ok":false,"parameters":{"migrate_to_chat_id":-1.001e3}}`).MigrateToChatID)
}

func TestResultIsKeptByteForByte(t *testing.T) {
	t.Parallel()
	raw := "{\"a\" :  1e2,\n\"\\u0041\":\"<&>\",\"id\":9007199254740993}"
	result, e := telegram.Decode(testToken(t), 200, nil, []byte(`{"description":"fine","ok":true,"result":`+raw+`}`))
	require.Nil(t, e)
	require.Equal(t, raw, string(result))
}

func TestErrorTextHoldsStatusAndTheStartOfTheBody(t *testing.T) {
	t.Parallel()
	page := "<html>\r\n\t<h1>502 Bad\x00Gateway\u200b</h1>" + strings.Repeat("é", 5000)
	e := decode(t, 502, page)
	text := e.Error()
	require.True(t, strings.HasPrefix(text, "telegram: sendMessage: status 502: <html> <h1>502 Bad Gateway </h1>é"), text)
	require.LessOrEqual(t, utf8.RuneCountInString(text), 200+80)
	require.NotContains(t, text, "\n")
	require.ErrorIs(t, e, telegram.ErrNotAnswer)

	require.Equal(t, "telegram: sendMessage: status 400: Bad Request: chat not found",
		answered(t, 400, "Bad Request: chat not found").Error())
	require.Equal(t, "telegram: sendMessage: status 413: not a Bot API answer", decode(t, 413, "").Error())
	require.Equal(t, "telegram: getMe: x", (&telegram.Error{Method: "getMe", Err: errors.New("x")}).Error())
}

func TestACutAnswerIsToldFromOneThatNeverWasJSON(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, decode(t, 200, `{"ok":true,"result":[1,2`), io.ErrUnexpectedEOF)
	for _, body := range []string{"", "null", "7", "[]", "<html>", `{"ok":true}`, `{"ok":"true","result":1}`, `{"ok":true,"result":1}x`, "\xff\xfe"} {
		require.ErrorIs(t, decode(t, 200, body), telegram.ErrNotAnswer, body)
	}
}

func TestDescriptionIsBounded(t *testing.T) {
	t.Parallel()
	e := answered(t, 400, strings.Repeat("word ", 5000))
	require.LessOrEqual(t, utf8.RuneCountInString(e.Description), 1000)
}

func TestATokenSplitByBrokenBytesDoesNotComeTogether(t *testing.T) {
	t.Parallel()
	for _, glue := range []string{"\xff", "\x00", "\u200b", "\n"} {
		for cut := range len(secret) {
			requireNoSecret(t, decode(t, 404, "<p>"+secret[:cut]+glue+secret[cut:]).Error())
		}
	}
	// Nor may the limit leave half of one at the edge.
	for shift := range 220 {
		text := decode(t, 404, strings.Repeat("x", shift)+secret).Error()
		require.NotContains(t, text, secret[:8])
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(200, "", "", []byte(`{"ok":true,"result":[]}`))
	f.Add(429, "3.7", "", []byte(`{"ok":false,"error_code":"429","parameters":{"retry_after":1e30}}`))
	f.Add(400, "-1", "x", []byte(`{"ok":false,"parameters":{"migrate_to_chat_id":"-100"}}`))
	f.Add(502, "Tue, 01 Dec 2026 10:00:30 GMT", "Tue, 01 Dec 2026 10:00:00 GMT", []byte("<html>"))
	f.Add(404, "", "", []byte("/bot4242:"+secret+"/getMe"))
	f.Fuzz(func(t *testing.T, status int, retryAfter, date string, body []byte) {
		header := http.Header{"Retry-After": {retryAfter}, "Date": {date}}
		result, e := telegram.Decode(testToken(t), status, header, body)
		require.NotEqual(t, e == nil, result == nil, "result xor error")
		if e == nil {
			return
		}
		require.True(t, e.RetryAfter >= 0 && e.RetryAfter <= 14*24*time.Hour)
		require.True(t, e.Written)
		require.Equal(t, -1, strings.IndexFunc(e.Error(), func(r rune) bool { return !unicode.IsPrint(r) }))
		require.NotContains(t, e.Error(), secret)
		require.LessOrEqual(t, utf8.RuneCountInString(e.Error()), 1100)
		for _, method := range []string{"sendMessage", "getMe", "sendMediaGroup"} {
			require.NotContains(t, telegram.Classify(e, method).String(), "class(")
		}
	})
}

package telegramsim_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestParametersArriveInEveryEncoding(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	base := b.url + "/bot" + b.Token()

	form := &bytes.Buffer{}
	parts := multipart.NewWriter(form)
	require.NoError(t, parts.WriteField("chat_id", "1001"))
	require.NoError(t, parts.WriteField("caption", "multipart"))
	file, err := parts.CreateFormFile("document", "report.pdf")
	require.NoError(t, err)
	_, err = file.Write(make([]byte, 1234))
	require.NoError(t, err)
	require.NoError(t, parts.Close())

	for _, c := range []struct{ verb, path, kind, body string }{
		{http.MethodGet, "/sendMessage?chat_id=1001&text=query", "", ""},
		{http.MethodPost, "/SENDMESSAGE", "application/x-www-form-urlencoded", "chat_id=1001&text=form"},
		{http.MethodPost, "/sendMessage", "application/json; charset=utf-8", `{"chat_id":1001,"text":"json","x":null}`},
		{http.MethodPost, "/test/sendMessage", "application/json", `{"chat_id":"1001","text":"test path"}`},
		{http.MethodPost, "/sendDocument", parts.FormDataContentType(), form.String()},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.verb, base+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", c.kind)
		resp, raw, err := b.do(req)
		require.NoError(t, err)
		require.True(t, decode(t, resp, raw).OK, string(raw))
	}
	ledger := b.Ledger(1001)
	require.Equal(t, []string{"query", "form", "json", "test path", "multipart"}, texts(ledger))
	require.Equal(t, []telegramsim.File{{Field: "document", Name: "report.pdf", Size: 1234}}, ledger[4].Files)
}

func TestMalformedJSONOnlyLosesParameters(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	for body, want := range map[string]string{
		`{"chat_id":1001,"text":`:         "Bad Request: message text is empty",
		`{"chat_id":1001,"text":"x" oops`: "",
		`not json`:                        "Bad Request: chat_id is empty",
		``:                                "Bad Request: chat_id is empty",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/bot"+b.Token()+"/sendMessage", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, raw, err := b.do(req)
		require.NoError(t, err)
		require.Equal(t, want, decode(t, resp, raw).Description, body)
	}
}

func TestTokenAndMethodErrorsLookLikeTheRealOnes(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.True(t, b.call("getMe", nil).OK)
	unknown := b.call("noSuchMethod", nil)
	require.Equal(t, 404, unknown.Code)
	require.Equal(t, "Not Found: method not found", unknown.Description)

	resp, err := b.client.Get(b.url + "/bot123:wrong/getMe")
	require.NoError(t, err)
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.JSONEq(t, `{"ok":false,"error_code":401,"description":"Unauthorized"}`, string(raw))

	b.Revoke()
	require.Equal(t, 401, b.call("getMe", nil).Code)
	require.NoError(t, b.SetToken("700000001:new"))
	require.True(t, b.call("getMe", nil).OK)
	require.Error(t, b.SetToken("no id"))

	require.True(t, b.call("logOut", nil).OK)
	require.Equal(t, "Logged out", b.call("getMe", nil).Description)
}

func TestOversizedParametersGetAnEmpty413(t *testing.T) {
	t.Parallel()
	b := free(t)
	resp, raw, err := b.post("sendMessage", params{"chat_id": 1001, "text": strings.Repeat("x", 1<<20)})
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	require.Empty(t, raw)
}

func TestLatencyDelaysTheAnswerNotTheEffect(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{Latency: 300 * time.Millisecond, Unknown: telegramsim.UnknownCreate})
	b.say(1001, "slow")
	require.GreaterOrEqual(t, time.Since(b.Ledger(1001)[0].Time), 300*time.Millisecond)
}

func TestRequestLogTellsWhatWasAskedAndAnswered(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.say(1001, "hello")
	b.call("getUpdates", params{"offset": 7})
	log := b.Requests()
	require.Len(t, log, 2)
	require.Equal(t, "sendMessage", log[0].Method)
	require.Equal(t, int64(1001), log[0].ChatID)
	require.Equal(t, "hello", log[0].Params["text"])
	require.Equal(t, 200, log[0].Status)
	require.False(t, log[0].Answered.Before(log[0].Arrived))
	require.Equal(t, int64(7), log[1].Offset)
}

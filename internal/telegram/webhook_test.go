package telegram_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

const hookSecret = "rotate_me-0123456789"

// asksFor answers every request with true and keeps what was asked.
func asksFor(t *testing.T, asked *string) *telegram.Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		*asked = r.URL.Path[len("/bot4242:")+len(secret):] + string(raw)
		_, _ = io.WriteString(w, `{"ok":true,"result":true,"description":"Webhook was set"}`)
	})
}

func TestSetWebhookSendsWhatWasAskedAndDropsNothing(t *testing.T) {
	t.Parallel()
	var asked string
	client := asksFor(t, &asked)
	for want, request := range map[string]telegram.WebhookRequest{
		`/setWebhook{"url":"https://example.org/hook"}`:                         {URL: "https://example.org/hook"},
		`/setWebhook{"allowed_updates":[],"url":"https://example.org"}`:         {URL: "https://example.org", AllowedUpdates: []string{}},
		`/setWebhook{"max_connections":7,"secret_token":"s","url":"https://e"}`: {URL: "https://e", Secret: "s", MaxConnections: 7},
	} {
		require.NoError(t, client.SetWebhook(t.Context(), request))
		require.Equal(t, want, asked)
	}
}

func TestDeleteWebhookKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	var asked string
	require.NoError(t, asksFor(t, &asked).DeleteWebhook(t.Context()))
	require.Equal(t, `/deleteWebhook{}`, asked)
	require.Error(t, serve(t, reply(502, "")).DeleteWebhook(t.Context()))
}

func TestAnErrorOfSetWebhookHoldsNeitherItsPathNorItsSecret(t *testing.T) {
	t.Parallel()
	request := telegram.WebhookRequest{URL: "https://example.org/hook/of-nobody?key=other", Secret: hookSecret}
	for _, answer := range []string{
		`{"ok":false,"error_code":400,"description":"Bad Request: bad webhook: %s"}`, `<html>%s</html>`,
	} {
		for _, quoted := range []string{request.URL, "/hook/of-nobody", "/hook/of-nobody?key=other", hookSecret} {
			err := serve(t, reply(400, fmt.Sprintf(answer, quoted))).SetWebhook(t.Context(), request)
			require.Equal(t, telegram.Rejected, telegram.Classify(err, "setWebhook"))
			require.Contains(t, err.Error(), "[redacted]")
			for _, verb := range []string{"%v", "%+v", "%#v"} {
				require.NotContains(t, fmt.Sprintf(verb, asError(t, err)), "of-nobody")
				require.NotContains(t, fmt.Sprintf(verb, asError(t, err)), hookSecret)
			}
		}
	}
	err := serve(t, reply(400, `{"ok":false,"error_code":400,"description":"Bad Request: bad webhook"}`)).
		SetWebhook(t.Context(), telegram.WebhookRequest{URL: "https://example.org/", Secret: "a"})
	require.ErrorContains(t, err, "Bad Request: bad webhook", "what is too short for a secret hides nothing")
	require.NoError(t, serve(t, reply(200, `{"ok":true,"result":true}`)).SetWebhook(t.Context(), request))
}

func TestWebhookInfoReadsWhatAnOperatorNeeds(t *testing.T) {
	t.Parallel()
	client := serve(t, reply(200, `{"ok":true,"result":{"url":"https://example.org/hook","pending_update_count":7,
		"last_error_date":1796119200,"last_error_message":"Read timeout\nexpired","max_connections":40,"allowed_updates":["message","poll"]}}`))
	info, err := client.WebhookInfo(t.Context())
	require.NoError(t, err)
	require.Equal(t, telegram.WebhookInfo{
		URL: "https://example.org/hook", PendingUpdateCount: 7,
		LastErrorDate: time.Unix(1796119200, 0), LastErrorMessage: "Read timeout expired",
		MaxConnections: 40, AllowedUpdates: []string{"message", "poll"},
	}, info)

	info, err = serve(t, reply(200, `{"ok":true,"result":{"url":"","pending_update_count":0}}`)).WebhookInfo(t.Context())
	require.NoError(t, err)
	require.Zero(t, info)
	_, err = serve(t, reply(200, `{"ok":true,"result":[]}`)).WebhookInfo(t.Context())
	require.ErrorIs(t, err, telegram.ErrNotAnswer)
	_, err = serve(t, reply(502, "")).WebhookInfo(t.Context())
	require.Error(t, err)
}

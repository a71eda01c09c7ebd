package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegram"
)

// answered is the error for a Bot API answer with this code and description.
func answered(tb testing.TB, code int, description string) *telegram.Error {
	tb.Helper()
	body, err := json.Marshal(map[string]any{"ok": false, "error_code": code, "description": description})
	require.NoError(tb, err)
	return decode(tb, code, string(body))
}

func decode(tb testing.TB, status int, body string) *telegram.Error {
	tb.Helper()
	result, e := telegram.Decode(testToken(tb), status, http.Header{}, []byte(body))
	require.NotNil(tb, e)
	require.Nil(tb, result)
	return e
}

// row is a description and what it means for a send, and for an edit where that
// differs.
type row struct {
	code        int
	description string
	send        telegram.Class
	edit        telegram.Class
}

var descriptionRows = []row{
	// Token.
	{code: 401, description: "Unauthorized", send: telegram.Unauthorized},
	{code: 401, description: "Unauthorized: invalid token specified", send: telegram.Unauthorized},
	{code: 401, description: "Unauthorized: invalid api-id/api-hash", send: telegram.Unauthorized},
	{code: 404, description: "Not Found", send: telegram.NotFound},
	{code: 404, description: "Not Found: method not found", send: telegram.Rejected},
	{code: 404, description: "Not Found: something else", send: telegram.Rejected},
	{code: 400, description: "Logged out", send: telegram.Unauthorized},
	{code: 400, description: "Bad Request: the bot has already been closed", send: telegram.Delivered},
	{code: 421, description: "Misdirected Request: unallowed token specified", send: telegram.Unauthorized},
	{code: 400, description: "Bad Request: FROZEN_METHOD_INVALID", send: telegram.Unauthorized},
	{code: 406, description: "FROZEN_METHOD_INVALID", send: telegram.Unauthorized},

	// Limits.
	{code: 429, description: "Too Many Requests: retry after 10072", send: telegram.RateLimited},
	{code: 429, description: "", send: telegram.RateLimited},
	{code: 400, description: "Bad Request: Too Many Requests: retry after 8", send: telegram.RateLimited},
	{code: 400, description: "Bad Request: Too Many Requests", send: telegram.Unavailable},

	// 5xx.
	{code: 500, description: "Internal Server Error: restart", send: telegram.Unknown, edit: telegram.Unavailable},
	{
		code: 500, description: "Internal Server Error: sent message was immediately deleted and can't be returned",
		send: telegram.Delivered,
	},
	{code: 500, description: "Internal Server Error: Request aborted", send: telegram.Unknown, edit: telegram.Unavailable},
	{code: 500, description: "Requested data is inaccessible", send: telegram.Unknown, edit: telegram.Unavailable},
	{code: 502, description: "Bad Gateway", send: telegram.Unknown, edit: telegram.Unavailable},

	// 403.
	{code: 403, description: "Forbidden: bot was blocked by the user", send: telegram.Unreachable},
	{code: 403, description: "bot was blocked by the user", send: telegram.Unreachable},
	{code: 403, description: "FORBIDDEN: BOT WAS BLOCKED BY THE USER", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: user is deactivated", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot can't initiate conversation with a user", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot was kicked from the group chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot was kicked from the supergroup chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot was kicked from the channel chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot is not a member of the group chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot is not a member of the supergroup chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: bot is not a member of the channel chat", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: the group chat was deleted", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: PEER_ID_INVALID", send: telegram.Unreachable},
	{code: 403, description: "Forbidden: the bot can't send messages to the bot", send: telegram.Rejected},
	{code: 403, description: "Forbidden: bot can't send messages to bots", send: telegram.Rejected},
	{code: 403, description: "Forbidden: not enough rights to pin a message", send: telegram.Rejected},
	{code: 403, description: "", send: telegram.Rejected},

	// 400, the chat.
	{code: 400, description: "Bad Request: group chat was upgraded to a supergroup chat", send: telegram.Rejected},
	{code: 400, description: "Bad Request: chat not found", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: private chat not found", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: PEER_ID_INVALID", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: group is deactivated", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: CHANNEL_PRIVATE", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: CHANNEL_INVALID", send: telegram.Unreachable},
	{code: 400, description: "Bad Request: CHAT_WRITE_FORBIDDEN", send: telegram.Rejected},
	{code: 400, description: "Bad Request: CHAT_RESTRICTED", send: telegram.Rejected},
	{code: 400, description: "Bad Request: USER_BANNED_IN_CHANNEL", send: telegram.Rejected},
	{code: 400, description: "Bad Request: have no rights to send a message", send: telegram.Rejected},
	{code: 400, description: "Bad Request: have no write access to the chat", send: telegram.Rejected},
	{code: 400, description: "Bad Request: need administrator rights in the channel chat", send: telegram.Rejected},
	{code: 400, description: "Bad Request: not enough rights to send photos to the chat", send: telegram.Rejected},
	{code: 400, description: "Bad Request: CHAT_SEND_STICKERS_FORBIDDEN", send: telegram.Rejected},
	{code: 400, description: "Bad Request: CHAT_GUEST_SEND_FORBIDDEN", send: telegram.Rejected},
	{code: 400, description: "Bad Request: CHAT_ADMIN_REQUIRED", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message thread not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: TOPIC_CLOSED", send: telegram.Rejected},
	{code: 400, description: "Bad Request: TOPIC_DELETED", send: telegram.Rejected},
	{code: 400, description: "Bad Request: direct messages topic not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: ALLOW_PAYMENT_REQUIRED_5", send: telegram.Rejected},
	{code: 400, description: "Bad Request: BALANCE_TOO_LOW", send: telegram.Rejected},
	{code: 400, description: "Bad Request: business connection not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: BUSINESS_CONNECTION_INVALID", send: telegram.Rejected},

	// 400, the message.
	{
		code: 400, description: "Bad Request: message is not modified: specified new message content and reply markup are exactly the same",
		send: telegram.Delivered,
	},
	{code: 400, description: "Bad Request: chat description is not modified", send: telegram.Delivered},
	{code: 400, description: "Bad Request: CHAT_NOT_MODIFIED", send: telegram.Delivered},
	{code: 400, description: "Bad Request: message to delete not found", send: telegram.Delivered},
	{code: 400, description: "Bad Request: message to unpin not found", send: telegram.Delivered},
	{code: 400, description: "Bad Request: poll has already been closed", send: telegram.Delivered},
	{code: 400, description: "Bad Request: message to edit not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: MESSAGE_ID_INVALID", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message can't be edited", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message to react not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message to pin not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message with poll to stop not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message can't be deleted", send: telegram.Rejected},
	{code: 400, description: "Bad Request: MESSAGE_DELETE_FORBIDDEN", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message to be replied not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: reply message not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message to copy not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message to forward not found", send: telegram.Rejected},
	{code: 400, description: "Bad Request: messages can't be forwarded", send: telegram.Rejected},
	{
		code: 400, description: "Bad Request: query is too old and response timeout expired or query ID is invalid",
		send: telegram.Expired,
	},
	{code: 400, description: "Bad Request: QUERY_ID_INVALID", send: telegram.Expired},

	// 400, the content.
	{code: 400, description: "Bad Request: message is too long", send: telegram.Rejected},
	{code: 400, description: "Bad Request: text is too long", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message caption is too long", send: telegram.Rejected},
	{code: 400, description: "Bad Request: message text is empty", send: telegram.Rejected},
	{code: 400, description: "Bad Request: can't parse entities: Can't find end of the entity", send: telegram.Rejected},
	{code: 400, description: `Bad Request: can't parse entities: unsupported start tag "internal"`, send: telegram.Rejected},
	{code: 400, description: "Bad Request: ENTITY_BOUNDS_INVALID", send: telegram.Rejected},
	{code: 400, description: "Bad Request: reply markup is too long", send: telegram.Rejected},
	{code: 400, description: "Bad Request: BUTTON_DATA_INVALID", send: telegram.Rejected},
	{code: 400, description: "Bad Request: wrong parameter action in request", send: telegram.Rejected},
	{code: 400, description: "Bad Request: Can't parse reply keyboard markup JSON object", send: telegram.Rejected},
	{code: 400, description: "Bad Request: too much messages to send as an album", send: telegram.Rejected},
	{code: 400, description: "Bad Request: wrong file identifier/HTTP URL specified", send: telegram.Rejected},
	{code: 400, description: "Bad Request: wrong remote file id specified: wrong string length", send: telegram.Rejected},
	{code: 400, description: "Bad Request: invalid file_id", send: telegram.Rejected},
	{code: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS", send: telegram.Rejected},
	{code: 400, description: "Bad Request: PHOTO_EXT_INVALID", send: telegram.Rejected},
	{code: 400, description: "Bad Request: sticker set name is already occupied", send: telegram.Rejected},
	{code: 400, description: "Bad Request: file is too big", send: telegram.Rejected},
	{code: 400, description: "Request Entity Too Large", send: telegram.Rejected},
	{code: 400, description: "a text nobody has seen yet", send: telegram.Rejected},

	// 400 with a cause that may pass.
	{code: 400, description: "Bad Request: wrong file_id or the file is temporarily unavailable", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: failed to get HTTP URL content", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: WEBPAGE_CURL_FAILED", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: can't upload file by URL", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: wrong type of the web page content", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: group send failed", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: FILE_REFERENCE_EXPIRED", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: timeout", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: INTERNAL", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: RPC_CALL_FAIL", send: telegram.Unavailable},
	{code: 400, description: "Bad Request: WORKER_BUSY_TOO_LONG_RETRY", send: telegram.Unavailable},

	// Webhook settings.
	{code: 400, description: "Bad Request: bad webhook: HTTPS url must be provided for webhook", send: telegram.Rejected},
	{code: 400, description: "Bad Request: invalid webhook URL specified", send: telegram.Rejected},
	{code: 400, description: "Bad Request: secret token is too long", send: telegram.Rejected},
	{code: 400, description: "Bad Request: certificate size is too big", send: telegram.Rejected},

	// 409 and what is left of 4xx.
	{
		code: 409, description: "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
		send: telegram.Conflict,
	},
	{
		code: 409, description: "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
		send: telegram.Conflict,
	},
	{code: 413, description: "Request Entity Too Large", send: telegram.Rejected},
	{code: 408, description: "Request Timeout", send: telegram.Unavailable},
	{code: 418, description: "I'm a teapot", send: telegram.Rejected},
}

func TestClassOfEveryDescription(t *testing.T) {
	t.Parallel()
	for _, r := range descriptionRows {
		t.Run(fmt.Sprint(r.code, " ", r.description), func(t *testing.T) {
			t.Parallel()
			if r.edit == 0 {
				r.edit = r.send
			}
			err := answered(t, r.code, r.description)
			require.Equal(t, r.send, telegram.Classify(err, "sendMessage"))
			require.Equal(t, r.edit, telegram.Classify(err, "editMessageText"))
			require.Equal(t, r.edit, telegram.Classify(err, "getChat"))
			require.Equal(t, r.send, telegram.Classify(fmt.Errorf("send: %w", err), "SENDMESSAGE"))
		})
	}
}

func TestClassOfABatchAllowsForPartialSuccess(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"sendMediaGroup", "copyMessages", "forwardMessages", "SendMediaGroup"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			partial := answered(t, 400, `Bad Request: failed to send message #1 with the error message "Too Many Requests: retry after 8"`)
			require.Equal(t, telegram.Unknown, telegram.Classify(partial, method))
			require.Equal(t, 8*time.Second, partial.RetryAfter)

			parse := answered(t, 400, `Bad Request: failed to send message #2 with the error message "can't parse entities"`)
			require.Equal(t, telegram.Unknown, telegram.Classify(parse, method))

			limited := answered(t, 400, "Bad Request: Too Many Requests: retry after 8")
			require.Equal(t, telegram.Unknown, telegram.Classify(limited, method))
			require.Equal(t, 8*time.Second, limited.RetryAfter)

			require.Equal(t, telegram.RateLimited, telegram.Classify(answered(t, 429, "Too Many Requests: retry after 8"), method))
			require.Equal(t, telegram.Unavailable, telegram.Classify(answered(t, 400, "Bad Request: group send failed"), method))
			require.Equal(t, telegram.Unknown, telegram.Classify(decode(t, 400, `{"ok":false,"descr`), method))
		})
	}
}

func TestClassOfEveryShapeOfBody(t *testing.T) {
	t.Parallel()
	page := "<html><head><title>502 Bad Gateway</title></head><body>nginx: chat not found</body></html>"
	for _, c := range []struct {
		name       string
		status     int
		body       string
		send, edit telegram.Class
	}{
		{"HTML 500", 500, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 502", 502, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 503", 503, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 504", 504, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 200", 200, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 302", 302, page, telegram.Unknown, telegram.Unavailable},
		{"HTML 400 naming a known text", 400, page, telegram.Rejected, telegram.Rejected},
		{"HTML 401", 401, page, telegram.Unauthorized, telegram.Unauthorized},
		{"HTML 403", 403, page, telegram.Rejected, telegram.Rejected},
		{"HTML 404", 404, page, telegram.NotFound, telegram.NotFound},
		{"HTML 413", 413, page, telegram.Rejected, telegram.Rejected},
		{"HTML 429", 429, page, telegram.RateLimited, telegram.RateLimited},
		{"empty 200", 200, "", telegram.Unknown, telegram.Unavailable},
		{"empty 400", 400, "", telegram.Rejected, telegram.Rejected},
		{"empty 404", 404, "", telegram.NotFound, telegram.NotFound},
		{"empty 413", 413, "", telegram.Rejected, telegram.Rejected},
		{"empty 415", 415, "", telegram.Rejected, telegram.Rejected},
		{"empty 431", 431, "", telegram.Rejected, telegram.Rejected},
		{"empty 501", 501, "", telegram.Rejected, telegram.Rejected},
		{"empty 505", 505, "", telegram.Rejected, telegram.Rejected},
		{"cut 200", 200, `{"ok":true,"result":{"message_id":`, telegram.Unknown, telegram.Unavailable},
		{"cut 400", 400, `{"ok":false,"error_code":400,"desc`, telegram.Unavailable, telegram.Unavailable},
		{"cut 413", 413, `{"ok":false,"error`, telegram.Rejected, telegram.Rejected},
		{"cut 429", 429, `{"ok":false,"error`, telegram.RateLimited, telegram.RateLimited},
		{"ok without result", 200, `{"ok":true}`, telegram.Unknown, telegram.Unavailable},
		{"ok on a 502", 502, `{"ok":true,"result":1}`, telegram.Unknown, telegram.Unavailable},
		{"not ok and nothing else", 200, `{"ok":false}`, telegram.Unknown, telegram.Unavailable},
		{"not ok with the code in the body", 200, `{"ok":false,"error_code":"429"}`, telegram.RateLimited, telegram.RateLimited},
		{"JSON of another kind", 200, `[1,2]`, telegram.Unknown, telegram.Unavailable},
		{
			"migrate_to_chat_id", 400,
			`{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded","parameters":{"migrate_to_chat_id":-1001}}`,
			telegram.Moved, telegram.Moved,
		},
		{"migrate_to_chat_id alone", 400, `{"ok":false,"parameters":{"migrate_to_chat_id":"-1001"}}`, telegram.Moved, telegram.Moved},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := decode(t, c.status, c.body)
			require.Equal(t, c.send, telegram.Classify(err, "sendMessage"))
			require.Equal(t, c.edit, telegram.Classify(err, "editMessageText"))
		})
	}
}

func TestClassOfACallWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                 string
		err                  error
		send, edit, callback telegram.Class
	}{
		{"success", nil, telegram.Delivered, telegram.Delivered, telegram.Delivered},
		{"not written", &telegram.Error{}, telegram.Unavailable, telegram.Unavailable, telegram.Unavailable},
		{"canceled before", &telegram.Error{Err: context.Canceled}, telegram.Unavailable, telegram.Unavailable, telegram.Unavailable},
		{
			"timeout after", &telegram.Error{Written: true, Err: context.DeadlineExceeded},
			telegram.Unknown, telegram.Unavailable, telegram.Unavailable,
		},
		{"no Error at all", errors.New("x"), telegram.Unknown, telegram.Unavailable, telegram.Unavailable},
		{
			"file", &telegram.Error{Err: &telegram.FileError{Path: "a.jpg", Err: errors.New("gone")}},
			telegram.Rejected, telegram.Rejected, telegram.Rejected,
		},
		{
			"file that broke while sent", &telegram.Error{Written: true, Err: &telegram.FileError{Err: errors.New("gone")}},
			telegram.Rejected, telegram.Rejected, telegram.Rejected,
		},
		{
			"invalid call", &telegram.Error{Err: fmt.Errorf("x: %w", telegram.ErrInvalidCall)},
			telegram.Rejected, telegram.Rejected, telegram.Rejected,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.send, telegram.Classify(c.err, "sendMessage"))
			require.Equal(t, c.edit, telegram.Classify(c.err, "deleteMessage"))
			require.Equal(t, c.callback, telegram.Classify(c.err, "answerCallbackQuery"))
		})
	}
}

func TestASecondTryOfAStateThatIsSetCountsAsDelivered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, description string
		code                int
	}{
		{"approveChatJoinRequest", "Bad Request: USER_ALREADY_PARTICIPANT", 400},
		{"declineChatJoinRequest", "Bad Request: HIDE_REQUESTER_MISSING", 400},
		{"leaveChat", "Forbidden: bot is not a member of the group chat", 403},
	} {
		err := answered(t, c.code, c.description)
		require.Equal(t, telegram.Delivered, telegram.Classify(err, c.method))
		require.NotEqual(t, telegram.Delivered, telegram.Classify(err, "sendMessage"))
	}
}

func TestClassNamesAreFixedWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for class := telegram.Delivered; class <= telegram.Rejected; class++ {
		require.Regexp(t, `^[a-z_]+$`, class.String())
		seen[class.String()] = true
	}
	require.Len(t, seen, 11)
	require.Equal(t, "delivered", telegram.Delivered.String())
	require.Equal(t, "rejected", telegram.Rejected.String())
	require.Equal(t, "invalid", telegram.Class(0).String())
	require.Equal(t, "class(99)", telegram.Class(99).String())
}

func TestConflictKindTellsAPollerFromAWebhook(t *testing.T) {
	t.Parallel()
	for description, want := range map[string]telegram.ConflictReason{
		"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running": telegram.OtherPoller,
		"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook":                  telegram.WebhookActive,
		"Conflict: terminated by setWebhook request":                                                        telegram.WebhookActive,
		"Conflict: terminated by other setWebhook":                                                          telegram.OtherConflict,
		"Conflict: terminated by other long poll or webhook":                                                telegram.OtherConflict,
		"": telegram.OtherConflict,
	} {
		t.Run(description, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, telegram.ConflictKind(fmt.Errorf("poll: %w", answered(t, 409, description))))
		})
	}
	require.Equal(t, telegram.NoConflict, telegram.ConflictKind(nil))
	require.Equal(t, telegram.NoConflict, telegram.ConflictKind(answered(t, 400, "terminated by other getUpdates")))
	require.Equal(t, "none other_poller webhook_active other", strings.Trim(fmt.Sprint([]telegram.ConflictReason{
		telegram.NoConflict, telegram.OtherPoller, telegram.WebhookActive, telegram.OtherConflict,
	}), "[]"))
}

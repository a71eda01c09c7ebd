package durabot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
)

const greeting = "Hello! Write to me and I will repeat it."

// message is a private chat's message with this text.
func message(t *testing.T, text string) durabot.Update {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"update_id": 5001, "message": map[string]any{
		"message_id": 17, "chat": map[string]any{"id": 42}, "from": map[string]any{"id": 42}, "text": text,
	}})
	require.NoError(t, err)
	return durabot.Update{ID: 5001, Kind: "message", ChatID: 42, UserID: 42, Raw: raw}
}

// echoed is the text of the one call that Echo answers with.
func echoed(t *testing.T, text string) string {
	t.Helper()
	calls, err := durabot.Echo(t.Context(), message(t, text))
	require.NoError(t, err)
	require.Len(t, calls, 1)
	return calls[0].Params.(durabot.Params)["text"].(string)
}

func TestEchoRepeatsATextAsAReplyToItsMessage(t *testing.T) {
	t.Parallel()
	calls, err := durabot.Echo(t.Context(), message(t, "hi <b>there</b> & /start"))
	require.NoError(t, err)
	require.Len(t, calls, 1)
	sealed, err := calls[0].Seal()
	require.NoError(t, err)
	require.Equal(t, "sendMessage", sealed.Method)
	require.JSONEq(t, `{"chat_id":42,"text":"hi <b>there</b> & /start",
		"reply_parameters":{"message_id":17,"allow_sending_without_reply":true}}`, string(sealed.Params.(json.RawMessage)))
	require.Empty(t, sealed.Key, "it holds the chat's order")
}

func TestEchoGreetsOnStart(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/start", "/start@my_bot", "/start payload", "/start@my_bot payload", "/start\nx", " /start"} {
		require.Equal(t, greeting, echoed(t, text), text)
	}
	for _, text := range []string{"/started", "start", "/help", "x /start", "//start", "@", "/", " ", "\n"} {
		require.Equal(t, text, echoed(t, text))
	}
}

func TestEchoCutsToWhatTelegramTakesAndSplitsNoRune(t *testing.T) {
	t.Parallel()
	for _, r := range []string{"x", "é", "語", "😀"} {
		require.Equal(t, strings.Repeat(r, 4096), echoed(t, strings.Repeat(r, 4096)), "just fits")
		got := echoed(t, strings.Repeat(r, 4095)+"😀"+r)
		require.True(t, utf8.ValidString(got))
		require.Equal(t, strings.Repeat(r, 4095)+"😀", got)
	}
}

func TestEchoIgnoresWhatIsNoMessageWithAText(t *testing.T) {
	t.Parallel()
	for _, u := range []durabot.Update{
		{},
		{Kind: "edited_message", ChatID: 42, Raw: json.RawMessage(`{"edited_message":{"message_id":1,"text":"hi"}}`)},
		{Kind: "channel_post", ChatID: -42, Raw: json.RawMessage(`{"channel_post":{"message_id":1,"text":"hi"}}`)},
		{Kind: "poll_answer", Raw: json.RawMessage(`{"poll_answer":{}}`)},
		{Kind: "message", ChatID: 42, Raw: json.RawMessage(`{"message":{"message_id":1,"caption":"hi","photo":[]}}`)},
		{Kind: "message", ChatID: 42, Raw: json.RawMessage(`{"message":{"message_id":1,"text":""}}`)},
	} {
		calls, err := durabot.Echo(t.Context(), u)
		require.NoError(t, err, u.Kind)
		require.Empty(t, calls, u.Kind)
	}
}

func TestEchoFailsOnAMessageItCannotRead(t *testing.T) {
	t.Parallel()
	calls, err := durabot.Echo(t.Context(), durabot.Update{Kind: "message", Raw: json.RawMessage(`{"message":{"text":5}}`)})
	require.Error(t, err)
	require.Empty(t, calls)
}

func FuzzEchoAlwaysReturnsACallThatCanBeMade(f *testing.F) {
	for _, text := range []string{"hi", "/start", "\x00", strings.Repeat("😀", 4097), "\xff", " "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		calls, err := durabot.Echo(t.Context(), message(t, text))
		require.NoError(t, err)
		for _, call := range calls {
			_, err := call.Seal()
			require.NoError(t, err)
			require.LessOrEqual(t, utf8.RuneCountInString(call.Params.(durabot.Params)["text"].(string)), 4096)
		}
		require.Equal(t, text == "", len(calls) == 0)
	})
}

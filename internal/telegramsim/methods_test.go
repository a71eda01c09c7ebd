package telegramsim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestErrorsCarryTelegramsWords(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	own := b.say(1001, "mine")
	for _, c := range []struct {
		method string
		params params
		want   string
	}{
		{"sendMessage", params{"text": "x"}, "Bad Request: chat_id is empty"},
		{"sendMessage", params{"chat_id": 4, "text": "x"}, "Bad Request: chat not found"},
		{"sendMessage", params{"chat_id": -4, "text": "x"}, "Bad Request: chat not found"},
		{"sendMessage", params{"chat_id": "@nobody", "text": "x"}, "Bad Request: chat not found"},
		{"sendMessage", params{"chat_id": 1001, "text": " \n"}, "Bad Request: message text is empty"},
		{"sendMessage", params{"chat_id": 1001, "text": strings.Repeat("é", 4097)}, "Bad Request: message is too long"},
		{"sendPhoto", params{"chat_id": 1001, "caption": strings.Repeat("é", 1025)}, "Bad Request: message caption is too long"},
		{"sendMessage", params{"chat_id": 1001, "text": "x", "reply_to_message_id": 99}, "Bad Request: message to be replied not found"},
		{"sendMessage", params{"chat_id": 1001, "text": "x", "reply_parameters": params{"message_id": 99}}, "Bad Request: message to be replied not found"},
		{"sendChatAction", params{"chat_id": 1001}, "Bad Request: wrong parameter action in request"},
		{"sendMediaGroup", params{"chat_id": 1001}, "Bad Request: can't parse media JSON object"},
		{"sendMediaGroup", params{"chat_id": 1001, "media": "[{}]"}, "Bad Request: too few messages to send as an album"},
		{"sendMediaGroup", params{"chat_id": 1001, "media": "[{},{},{},{},{},{},{},{},{},{},{}]"}, "Bad Request: too much messages to send as an album"},
		{"forwardMessage", params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 99}, "Bad Request: message to forward not found"},
		{"copyMessage", params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 99}, "Bad Request: message to copy not found"},
		{"copyMessage", params{"chat_id": 1001, "from_chat_id": 3, "message_id": 99}, "Bad Request: chat not found"},
		{"copyMessages", params{"chat_id": 1001, "from_chat_id": 1001, "message_ids": "[99]"}, "Bad Request: messages to copy not found"},
		{"editMessageText", params{"chat_id": 1001, "message_id": 99, "text": "x"}, "Bad Request: message to edit not found"},
		{"editMessageText", params{"chat_id": 1001, "message_id": 1, "text": "x"}, "Bad Request: message can't be edited"},
		{"editMessageText", params{"chat_id": 1001, "message_id": own, "text": "mine"}, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message"},
		{"editMessageText", params{"chat_id": 1001, "message_id": own}, "Bad Request: message text is empty"},
		{"deleteMessage", params{"chat_id": 1001, "message_id": 99}, "Bad Request: message to delete not found"},
		{"deleteMessages", params{"chat_id": 1001}, "Bad Request: message identifiers are not specified"},
		{"answerCallbackQuery", params{"callback_query_id": "1"}, "Bad Request: query is too old and response timeout expired or query ID is invalid"},
		{"getFile", params{"file_id": "1"}, "Bad Request: invalid file_id"},
	} {
		require.Equal(t, c.want, b.call(c.method, c.params).Description, c.method)
	}
	require.Len(t, b.Ledger(0), 1)
}

func TestTextLimitCountsCodePoints(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.say(1001, strings.Repeat("😀", 4096))
	require.Equal(t, 400, b.call("sendMessage", params{"chat_id": 1001, "text": strings.Repeat("😀", 4097)}).Code)
}

func TestSentMessageComesBackAsAMessage(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann", Username: "ann"})
	b.SendText(1001, "/start")
	began := time.Now()
	e := b.call("sendMessage", params{
		"chat_id": "@ANN", "text": "hi", "reply_parameters": params{"message_id": 1},
		"reply_markup": params{"inline_keyboard": []any{}},
	})
	var m struct {
		ID      int64 `json:"message_id"`
		Date    int64
		Text    string
		Chat    struct{ ID int64 }
		From    struct{ ID int64 }
		Markup  json.RawMessage `json:"reply_markup"`
		ReplyTo struct {
			Text string
		} `json:"reply_to_message"`
	}
	require.NoError(t, json.Unmarshal(e.Result, &m))
	require.Equal(t, int64(2), m.ID)
	require.Equal(t, int64(1001), m.Chat.ID)
	require.Equal(t, int64(700000001), m.From.ID)
	require.Equal(t, "hi", m.Text)
	require.Equal(t, "/start", m.ReplyTo.Text)
	require.JSONEq(t, `{"inline_keyboard":[]}`, string(m.Markup))
	require.WithinRange(t, time.Unix(m.Date, 0), began.Truncate(time.Second), time.Now())
	require.Equal(t, int64(1), b.Ledger(1001)[0].ReplyTo)
}

func TestReplyToAMissingMessageCanBeAllowed(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	require.True(t, b.call("sendMessage", params{"chat_id": 1001, "text": "x", "reply_to_message_id": 9, "allow_sending_without_reply": true}).OK)
	require.True(t, b.call("sendMessage", params{
		"chat_id": 1001, "text": "x", "reply_parameters": params{"message_id": 9, "allow_sending_without_reply": true},
	}).OK)
}

func TestAnySendMethodIsRecorded(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	for method, want := range map[string]string{
		"sendPhoto": `"photo":[{`, "sendDocument": `"document":{`, "sendVideoNote": `"video_note":{`, "sendDice": `"dice":{`,
		"sendLocation": `"location":{`, "sendPoll": `"question":"why"`, "sendSomethingNew": `"somethingnew":{`,
	} {
		e := b.call(method, params{"chat_id": 1001, "caption": "c", "question": "why"})
		require.Contains(t, string(e.Result), want)
		require.Contains(t, string(e.Result), `"caption":"c"`)
	}
	require.Len(t, b.Ledger(1001), 7)
}

func TestAlbumsForwardsAndCopiesAreMessagesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "original")
	album := b.call("sendMediaGroup", params{"chat_id": 1001, "media": `[{"type":"photo","media":"a","caption":"one"},{"type":"video","media":"b"}]`})
	require.Contains(t, string(album.Result), `"caption":"one"`)
	require.Contains(t, string(album.Result), `"video":{`)
	source := params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 1}
	require.Contains(t, string(b.call("forwardMessage", source).Result), `"text":"original"`)
	require.JSONEq(t, `{"message_id":5}`, string(b.call("copyMessage", source).Result))
	many := b.call("copyMessages", params{"chat_id": 1001, "from_chat_id": 1001, "message_ids": []int{1, 5, 99}})
	require.JSONEq(t, `[{"message_id":6},{"message_id":7}]`, string(many.Result))
	require.Equal(t, []string{"one", "", "original", "original", "original", "original"}, texts(b.Ledger(1001)))
}

func TestEditsAndDeletesKeepTheirHistory(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	id := b.say(1001, "one")
	require.Contains(t, string(b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": "two"}).Result), `"edit_date"`)
	keyboard := params{"chat_id": 1001, "message_id": id, "reply_markup": params{"inline_keyboard": []any{}}}
	require.True(t, b.call("editMessageReplyMarkup", keyboard).OK)
	require.Contains(t, b.call("editMessageReplyMarkup", keyboard).Description, "message is not modified")
	require.True(t, b.call("editMessageCaption", params{"chat_id": 1001, "message_id": id, "caption": "three"}).OK)
	require.True(t, b.call("editMessageMedia", params{"chat_id": 1001, "message_id": id, "media": `{"caption":"four"}`}).OK)
	require.JSONEq(t, `true`, string(b.call("editMessageText", params{"inline_message_id": "x", "text": "y"}).Result))

	require.True(t, b.call("deleteMessage", params{"chat_id": 1001, "message_id": id}).OK)
	require.Equal(t, 400, b.call("deleteMessage", params{"chat_id": 1001, "message_id": id}).Code)
	require.True(t, b.call("deleteMessages", params{"chat_id": 1001, "message_ids": []int{1, 77}}).OK)
	m := b.Ledger(1001)[0]
	require.Equal(t, "four", m.Text)
	require.Len(t, m.Edits, 4)
	require.Equal(t, "two", m.Edits[0].Text)
	require.False(t, m.Deleted.IsZero())
	require.False(t, b.Messages(1001)[0].Deleted.IsZero())
}

func TestOldMessagesCannotBeDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		text(t, sim, 1001)
		time.Sleep(48*time.Hour + 1)
		require.Contains(t, direct(t, sim, "deleteMessage", params{"chat_id": 1001, "message_id": 1}).Description, "can't be deleted")
	})
}

func TestCallbackTakesOneAnswerInItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{NoPollRules: true}))
		text(t, sim, 1001)
		first, late := press(t, sim), press(t, sim)
		require.NotEqual(t, first, late)
		require.True(t, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": first}).OK)
		require.Equal(t, 400, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": first}).Code)
		time.Sleep(151 * time.Second)
		require.Equal(t, 400, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": late}).Code)
		sim.Push(json.RawMessage(`{"callback_query":{"id":"77"}}`))
		require.True(t, direct(t, sim, "answerCallbackQuery", params{"callback_query_id": "77"}).OK, "pushed ones count")
		require.Zero(t, sim.PressButton(1001, 99, "x"))
		require.Zero(t, sim.PressButton(9, 1, "x"))
	})
}

// press presses a button under message 1 and returns the query's id.
func press(t *testing.T, sim *telegramsim.Sim) string {
	t.Helper()
	id := sim.PressButton(1001, 1, "yes")
	var updates []struct {
		Query struct {
			ID      string
			Data    string
			From    struct{ ID int64 }
			Message struct{ Text string }
		} `json:"callback_query"`
	}
	require.NoError(t, json.Unmarshal(direct(t, sim, "getUpdates", params{"offset": id}).Result, &updates))
	require.Equal(t, "yes", updates[0].Query.Data)
	require.Equal(t, int64(1001), updates[0].Query.From.ID)
	require.Equal(t, "x", updates[0].Query.Message.Text)
	return updates[0].Query.ID
}

func TestSettingsAndReadsAnswer(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(-5, "hello")
	for method, want := range map[string]string{
		"setMyCommands": `true`, "getMyCommands": `[]`, "pinChatMessage": `true`, "banChatMember": `true`,
		"answerInlineQuery": `true`, "close": `true`, "getChatAdministrators": `[]`,
		"getUserProfilePhotos": `{"total_count":0,"photos":[]}`,
		"getChat":              `{"id":-5,"type":"group","title":"Group -5"}`,
		"getChatMember":        `{"user":{"id":700000001,"is_bot":true,"first_name":"Simulated bot","username":"durabot_sim_bot"},"status":"member"}`,
	} {
		require.JSONEq(t, want, string(b.call(method, params{"chat_id": -5, "user_id": 700000001}).Result), method)
	}
	require.True(t, b.call("setMyCommands", nil).OK)
	require.Equal(t, 400, b.call("pinChatMessage", params{"chat_id": 4}).Code)
	require.Equal(t, 400, b.call("getChat", params{"chat_id": 4}).Code)
	require.Equal(t, 404, b.call("getSomethingNew", nil).Code)
}

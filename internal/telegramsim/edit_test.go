package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

const (
	notModified = "Bad Request: message is not modified: specified new message content and reply markup are exactly the same " +
		"as a current content and reply markup of the message"
	tooOld = "Bad Request: query is too old and response timeout expired or query ID is invalid"
)

// TestEveryEditHasItsRules edits message 2, the bot's "mine" with a keyboard, and
// tells the answer and the text after it.
func TestEveryEditHasItsRules(t *testing.T) {
	t.Parallel()
	const keyboard = `{"inline_keyboard":[]}`
	for _, c := range []struct {
		name, method string
		params       params
		answer, text string
	}{
		{"a new text", "editMessageText", params{"text": "new"}, "", "new"},
		{"the same text loses the keyboard", "editMessageText", params{"text": "mine"}, "", "mine"},
		{"the same text and keyboard", "editMessageText", params{"text": "mine", "reply_markup": keyboard}, notModified, "mine"},
		{"no text", "editMessageText", nil, "Bad Request: message text is empty", "mine"},
		{"a text of spaces", "editMessageText", params{"text": " \t\n"}, "Bad Request: message text is empty", "mine"},
		{"a long text", "editMessageText", params{"text": strings.Repeat("é", 4097)}, "Bad Request: message is too long", "mine"},
		{"a text of full length", "editMessageText", params{"text": strings.Repeat("é", 4096)}, "", strings.Repeat("é", 4096)},
		{"a caption", "editMessageCaption", params{"caption": "c"}, "", "c"},
		{"an empty caption", "editMessageCaption", nil, "", ""},
		{"a long caption", "editMessageCaption", params{"caption": strings.Repeat("é", 1025)}, "Bad Request: message caption is too long", "mine"},
		{"a new keyboard", "editMessageReplyMarkup", params{"reply_markup": `{"inline_keyboard":[[]]}`}, "", "mine"},
		{"no keyboard", "editMessageReplyMarkup", nil, "", "mine"},
		{"the same keyboard", "editMessageReplyMarkup", params{"reply_markup": keyboard}, notModified, "mine"},
		{"media", "editMessageMedia", params{"media": `{"type":"photo","media":"x","caption":"c"}`}, "", "c"},
		{"media without JSON", "editMessageMedia", params{"media": "x"}, "Bad Request: can't parse media JSON object", "mine"},
		{"a user's message", "editMessageText", params{"message_id": 1, "text": "x"}, "Bad Request: message can't be edited", "mine"},
		{"no such message", "editMessageText", params{"message_id": 9, "text": "x"}, "Bad Request: message to edit not found", "mine"},
		{"no message named", "editMessageText", params{"message_id": "", "text": "x"}, "Bad Request: message to edit not found", "mine"},
		{"no such chat", "editMessageText", params{"chat_id": 7, "text": "x"}, "Bad Request: chat not found", "mine"},
		{"an inline message", "editMessageText", params{"inline_message_id": "abc", "text": "x"}, "", "mine"},
		{"other edits are settings", "editMessageLiveLocation", nil, "", "mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "theirs")
			require.True(t, b.call("sendMessage", params{"chat_id": 1001, "text": "mine", "reply_markup": keyboard}).OK)
			p := params{"chat_id": 1001, "message_id": 2}
			maps.Copy(p, c.params)
			require.Equal(t, c.answer, b.call(c.method, p).Description)
			require.Equal(t, c.text, b.Ledger(1001)[0].Text)
			require.Equal(t, "theirs", b.Messages(1001)[0].Text)
		})
	}
}

func TestAnEditKeepsItsMessagesPlace(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	first := b.say(1001, "one")
	b.say(1001, "two")
	before := b.Ledger(1001)[0]
	for n := range 5 {
		require.True(t, b.call("editMessageText", params{"chat_id": 1001, "message_id": first, "text": fmt.Sprint(n)}).OK)
	}
	after := b.Ledger(1001)[0]
	require.Equal(t, before.Seq, after.Seq)
	require.Equal(t, before.Time, after.Time)
	require.Len(t, after.Edits, 5)
	require.Empty(t, before.Edits, "what was handed out does not change")
	require.Equal(t, int64(4), b.say(1001, "three"), "an edit takes no message id")
}

// TestAnOlderEditRepeatedBringsTheOldTextBack: nothing but the order of calls
// protects a newer edit.
func TestAnOlderEditRepeatedBringsTheOldTextBack(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	id := b.say(1001, "one")
	for _, text := range []string{"two", "three", "two"} {
		require.True(t, b.call("editMessageText", params{"chat_id": 1001, "message_id": id, "text": text}).OK)
	}
	require.Equal(t, "two", b.Ledger(1001)[0].Text)
}

func TestEveryDeletionHasItsRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method string
		params       params
		age          time.Duration
		answer       string
		left         int
	}{
		{"the bot's message", "deleteMessage", params{"message_id": 2}, 0, "", 2},
		{"a user's message", "deleteMessage", params{"message_id": 1}, 0, "", 2},
		{"just young enough", "deleteMessage", params{"message_id": 2}, 48 * time.Hour, "", 2},
		{"too old", "deleteMessage", params{"message_id": 2}, 48*time.Hour + 1, "Bad Request: message can't be deleted for everyone", 3},
		{"no such message", "deleteMessage", params{"message_id": 9}, 0, "Bad Request: message to delete not found", 3},
		{"no message named", "deleteMessage", nil, 0, "Bad Request: message to delete not found", 3},
		{"several", "deleteMessages", params{"message_ids": "[1,2]"}, 0, "", 1},
		{"several, some unknown", "deleteMessages", params{"message_ids": "[2,77,78]"}, 0, "", 2},
		{"several, all unknown", "deleteMessages", params{"message_ids": "[77]"}, 0, "", 3},
		{"several, one twice", "deleteMessages", params{"message_ids": "[2,2]"}, 0, "", 2},
		{"several, none named", "deleteMessages", params{"message_ids": "[]"}, 0, "Bad Request: message identifiers are not specified", 3},
		{"several, no list", "deleteMessages", params{"message_ids": "2"}, 0, "Bad Request: message identifiers are not specified", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				sim.SendText(1001, "theirs")
				text(t, sim, 1001)
				text(t, sim, 1001)
				time.Sleep(c.age)
				p := params{"chat_id": 1001}
				maps.Copy(p, c.params)
				require.Equal(t, c.answer, direct(t, sim, c.method, p).Description)
				left := 0
				for _, m := range sim.Messages(1001) {
					if m.Deleted.IsZero() {
						left++
					}
				}
				require.Equal(t, c.left, left)
				require.Len(t, sim.Messages(1001), 3, "the ledger forgets nothing")
			})
		})
	}
}

func TestADeletedMessageIsGoneForEveryMethod(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	id := b.say(1001, "mine")
	require.True(t, b.call("deleteMessage", params{"chat_id": 1001, "message_id": id}).OK)
	for method, p := range map[string]params{
		"deleteMessage":   {},
		"editMessageText": {"text": "x"},
		"forwardMessage":  {"from_chat_id": 1001},
		"copyMessage":     {"from_chat_id": 1001},
		"copyMessages":    {"from_chat_id": 1001, "message_ids": fmt.Sprintf("[%d]", id)},
		"sendMessage":     {"text": "x", "reply_to_message_id": id},
	} {
		p["chat_id"], p["message_id"] = 1001, id
		require.Equal(t, 400, b.call(method, p).Code, method)
	}
	require.Zero(t, b.PressButton(1001, id, "x"))
}

// TestACallbackTakesItsAnswerOnceAndInTime answers a query after a while, from
// the press or pushed by hand.
func TestACallbackTakesItsAnswerOnceAndInTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		age    time.Duration
		before int // answers before this one
		want   string
	}{
		{"at once", 0, 0, ""},
		{"in the last moment", 150 * time.Second, 0, ""},
		{"too late", 150*time.Second + 1, 0, tooOld},
		{"twice", 0, 1, tooOld},
	} {
		for _, pushed := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, pushed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					sim := newSim(t, open(telegramsim.Options{NoPollRules: true}))
					text(t, sim, 1001)
					id := "55"
					if pushed {
						sim.Push(json.RawMessage(`{"callback_query":{"id":"55"}}`))
					} else {
						id = press(t, sim)
					}
					answer := params{"callback_query_id": id}
					for range c.before {
						require.True(t, direct(t, sim, "answerCallbackQuery", answer).OK)
					}
					time.Sleep(c.age)
					require.Equal(t, c.want, direct(t, sim, "answerCallbackQuery", answer).Description)
				})
			})
		}
	}
}

func TestQueriesNobodyMadeCannotBeAnswered(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.call("getUpdates", params{"allowed_updates": `["message"]`})
	b.Push(json.RawMessage(`{"callback_query":{"id":"1"}}`))
	b.Push(json.RawMessage(`{"callback_query":{}}`))
	b.Push(json.RawMessage(`{"callback_query":"2"}`))
	for _, id := range []string{"", "0", "1", "2"} {
		require.Equal(t, tooOld, b.call("answerCallbackQuery", params{"callback_query_id": id}).Description, id)
	}
}

func TestAnAnswerIsFreeEvenDuringAPenalty(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.Penalise(0, time.Hour)
	b.Push(json.RawMessage(`{"callback_query":{"id":"1"}}`))
	require.True(t, b.call("answerCallbackQuery", params{"callback_query_id": "1"}).OK)
	require.Zero(t, b.Violations())
}

func TestAlbumsHaveTwoToTenItemsOrNone(t *testing.T) {
	t.Parallel()
	for items, want := range map[int]string{
		0: "Bad Request: too few messages to send as an album", 1: "Bad Request: too few messages to send as an album",
		2: "", 10: "", 11: "Bad Request: too much messages to send as an album",
	} {
		t.Run(fmt.Sprint(items), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			media := make([]params, items)
			for i := range media {
				media[i] = params{"type": "photo", "media": "x", "caption": fmt.Sprint(i)}
			}
			require.Equal(t, want, b.call("sendMediaGroup", params{"chat_id": 1001, "media": media}).Description)
			ledger := b.Ledger(1001)
			if want != "" {
				require.Empty(t, ledger)
				return
			}
			require.Len(t, ledger, items)
			for i, m := range ledger {
				require.Equal(t, ledger[0].Album, m.Album)
				require.Equal(t, ledger[0].ID+int64(i), m.ID, "neighbours")
				require.Equal(t, fmt.Sprint(i), m.Text)
			}
		})
	}
}

func TestAnAlbumIsTakenWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	long := strings.Repeat("x", 1025)
	for _, p := range []params{
		{"media": `[{"type":"photo","media":"a"},{"type":"photo","media":"b","caption":"` + long + `"}]`},
		{"media": `[{"type":"photo","media":"a"},7]`},
		{"media": `[{"type":"photo","media":"a"},{"type":"photo","media":"b"}]`, "reply_to_message_id": 99},
	} {
		p["chat_id"] = 1001
		require.Equal(t, 400, b.call("sendMediaGroup", p).Code)
	}
	require.Empty(t, b.Ledger(1001))
	reply := b.call("sendMediaGroup", params{
		"chat_id": 1001, "media": `[{"type":"photo","media":"a"},{"type":"photo","media":"b"}]`, "reply_parameters": `{"message_id":1}`,
	})
	require.Equal(t, 2, strings.Count(string(reply.Result), `"reply_to_message"`))
	other := b.call("sendMediaGroup", params{"chat_id": 1001, "media": `[{"type":"photo","media":"a"},{"type":"photo","media":"b"}]`})
	require.True(t, other.OK)
	require.NotEqual(t, b.Ledger(1001)[0].Album, b.Ledger(1001)[2].Album)
}

func TestABatchSkipsWhatItCannotFind(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "one")
	b.SendText(1001, "two")
	b.CreateChat(telegramsim.Chat{ID: 1002, Username: "ann"})
	b.CreateChat(telegramsim.Chat{ID: 1001, Username: "source"})
	for ids, want := range map[string][]string{
		"[1,2]": {"one", "two"}, "[2,1]": {"two", "one"}, "[1,77]": {"one"}, "[77]": nil, "[]": nil, "1": nil, "": nil,
	} {
		before := len(b.Ledger(1002))
		e := b.call("copyMessages", params{"chat_id": "@ann", "from_chat_id": "@source", "message_ids": ids})
		require.Equal(t, want != nil, e.OK, ids)
		require.Equal(t, append([]string{}, want...), texts(b.Ledger(1002)[before:]), ids)
	}
}

func TestACopyCanHaveACaptionOfItsOwn(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "original")
	b.call("copyMessage", params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 1, "caption": "mine"})
	b.call("copyMessage", params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 1, "caption": ""})
	require.Equal(t, []string{"mine", ""}, texts(b.Ledger(1001)))
	require.Equal(t, "copyMessage", b.Ledger(1001)[0].Method)
}

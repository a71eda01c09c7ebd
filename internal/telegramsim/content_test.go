package telegramsim_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

const unclosed = `Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"`

// said is what a message shows to a client.
type said struct {
	ID       int64                `json:"message_id"`
	Text     string               `json:"text"`
	Entities []telegramsim.Entity `json:"entities"`
	Caption  string               `json:"caption"`
	Caps     []telegramsim.Entity `json:"caption_entities"`
}

func (b *bundle) said(method string, p params) said {
	b.t.Helper()
	e := b.call(method, p)
	require.True(b.t, e.OK, e.Description)
	var m said
	require.NoError(b.t, json.Unmarshal(e.Result, &m))
	return m
}

func bold(offset, length int) []telegramsim.Entity {
	return []telegramsim.Entity{{Type: "bold", Offset: offset, Length: length}}
}

// talk is a simulator with an open chat, 1001.
func talk(t *testing.T) *bundle {
	t.Helper()
	b := free(t)
	b.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann"})
	return b
}

func TestMarkupIsNowhereButInTheParameters(t *testing.T) {
	t.Parallel()
	b := talk(t)
	m := b.said("sendMessage", params{"chat_id": 1001, "text": "😀<b>hi</b>", "parse_mode": "HTML", "reply_markup": params{
		"inline_keyboard": [][]params{{{"text": "ok", "callback_data": "ok"}}},
	}})
	require.Equal(t, "😀hi", m.Text)
	require.Equal(t, bold(2, 2), m.Entities)
	sent := b.Ledger(1001)[0]
	require.Equal(t, "😀hi", sent.Text)
	require.Equal(t, bold(2, 2), sent.Entities)
	require.Equal(t, "😀<b>hi</b>", sent.Params["text"])

	b.PressButton(1001, m.ID, "ok")
	var updates []struct {
		Query struct{ Message said } `json:"callback_query"`
	}
	require.NoError(t, json.Unmarshal(b.call("getUpdates", nil).Result, &updates))
	require.Equal(t, m, updates[0].Query.Message)

	var list struct{ Messages []fields }
	b.admin("GET", "/ledger?chat_id=1001", "", 200, &list)
	require.Equal(t, "😀hi", list.Messages[0]["text"])
	require.Equal(t, []any{fields{"type": "bold", "offset": 2.0, "length": 2.0}}, list.Messages[0]["entities"])
	require.Equal(t, fields{"inline_keyboard": []any{[]any{fields{"text": "ok", "callback_data": "ok"}}}}, list.Messages[0]["markup"])
}

func TestEntitiesSurviveARestart(t *testing.T) {
	t.Parallel()
	opts := open(telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json")})
	before := newSim(t, opts)
	direct(t, before, "sendMessage", params{"chat_id": 1001, "text": `<a href="tg://user?id=1001">you</a>`, "parse_mode": "HTML"})
	require.NoError(t, before.Close())
	require.Equal(t, before.Ledger(0)[0].Entities, newSim(t, opts).Ledger(0)[0].Entities)
}

func TestAMentionedUserHasAName(t *testing.T) {
	t.Parallel()
	b := talk(t)
	m := b.said("sendMessage", params{
		"chat_id": 1001, "text": "[a](tg://user?id=1001)[b](tg://user?id=7)", "parse_mode": "MarkdownV2",
	})
	require.Equal(t, &telegramsim.EntityUser{ID: 1001, FirstName: "Ann"}, m.Entities[0].User)
	require.Equal(t, &telegramsim.EntityUser{ID: 7, FirstName: "User 7"}, m.Entities[1].User)
}

// TestNoMethodTakesBrokenMarkup tries every field that has a parse mode.
func TestNoMethodTakesBrokenMarkup(t *testing.T) {
	t.Parallel()
	const broken, mode = "<b>x", "HTML"
	b := talk(t)
	own := b.say(1001, "mine")
	item := params{"type": "photo", "media": "x", "caption": broken, "parse_mode": mode}
	for _, c := range []struct {
		method string
		params params
	}{
		{"sendMessage", params{"text": broken, "parse_mode": mode}},
		{"sendMessageDraft", params{"text": broken, "parse_mode": mode}},
		{"sendPhoto", params{"photo": "x", "caption": broken, "parse_mode": mode}},
		{"sendTomorrow", params{"caption": broken, "parse_mode": mode}},
		{"sendMediaGroup", params{"media": []params{{"type": "photo", "media": "x"}, item}}},
		{"sendPoll", params{"question": broken, "question_parse_mode": mode}},
		{"sendPoll", params{"question": "x", "explanation": broken, "explanation_parse_mode": mode}},
		{"sendPoll", params{"question": "x", "options": []params{{"text": "x"}, {"text": broken, "text_parse_mode": mode}}}},
		{"copyMessage", params{"from_chat_id": 1001, "message_id": own, "caption": broken, "parse_mode": mode}},
		{"editMessageText", params{"message_id": own, "text": broken, "parse_mode": mode}},
		{"editMessageCaption", params{"message_id": own, "caption": broken, "parse_mode": mode}},
		{"editMessageMedia", params{"message_id": own, "media": item}},
		{"editMessageText", params{"inline_message_id": "x", "text": broken, "parse_mode": mode}},
	} {
		c.params["chat_id"] = 1001
		require.Equal(t, unclosed, b.call(c.method, c.params).Description, "%s %v", c.method, c.params)
	}
	require.Equal(t, []string{"mine"}, texts(b.Ledger(0)))
	require.Empty(t, b.Ledger(0)[0].Edits)
}

func TestPollsWithSoundMarkupPass(t *testing.T) {
	t.Parallel()
	b := talk(t)
	for _, options := range []any{[]string{"a", "b"}, []params{{"text": "<b>a</b>", "text_parse_mode": "HTML"}, {"text": "<"}}} {
		e := b.call("sendPoll", params{"chat_id": 1001, "question": "*q*", "question_parse_mode": "Markdown", "options": options})
		require.True(t, e.OK, e.Description)
	}
}

func TestMarkupIsReadBeforeTheChatIsLookedAt(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.Equal(t, unclosed, b.call("sendMessage", params{"chat_id": 5, "text": "<b>", "parse_mode": "HTML"}).Description)
	require.Equal(t, "Bad Request: chat not found", b.call("sendMessage", params{"chat_id": 5, "text": "<b>"}).Description)
}

func TestBrokenMarkupSpendsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerChat: 1, PerChatWindow: time.Hour}}))
	for range 5 {
		require.Equal(t, 400, b.call("sendMessage", params{"chat_id": 1001, "text": "<b>", "parse_mode": "HTML"}).Code)
	}
	b.say(1001, "x")
}

func TestAParseModeWinsOverEntities(t *testing.T) {
	t.Parallel()
	b := talk(t)
	given := `[{"type":"code","offset":0,"length":1}]`
	for mode, want := range map[string]string{"HTML": "bold", "none": "code", "": "code"} {
		m := b.said("sendMessage", params{"chat_id": 1001, "text": "<b>x</b>", "parse_mode": mode, "entities": given})
		require.Equal(t, want, m.Entities[0].Type, mode)
	}
	require.Equal(t, "Bad Request: unsupported parse_mode",
		b.call("sendMessage", params{"chat_id": 1001, "text": "x", "parse_mode": "XML"}).Description)
	require.Equal(t, "Bad Request: message text is empty",
		b.call("sendMessage", params{"chat_id": 1001, "text": "", "parse_mode": "XML"}).Description)
}

func TestCaptionsHaveEntitiesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := talk(t)
	m := b.said("sendPhoto", params{"chat_id": 1001, "photo": "x", "caption": "*hi*", "parse_mode": "MarkdownV2"})
	require.Equal(t, said{ID: m.ID, Caption: "hi", Caps: bold(0, 2)}, m)
	given := params{"chat_id": 1001, "photo": "x", "caption": "hi", "caption_entities": `[{"type":"bold","offset":0,"length":2}]`}
	m = b.said("sendPhoto", given)
	require.Equal(t, said{ID: m.ID, Caption: "hi", Caps: bold(0, 2)}, m)

	var album []said
	e := b.call("sendMediaGroup", params{"chat_id": 1001, "media": []params{
		{"type": "photo", "media": "x", "caption": "<b>one</b>", "parse_mode": "HTML"},
		{"type": "photo", "media": "y", "caption": "two", "caption_entities": bold(1, 2)},
	}})
	require.NoError(t, json.Unmarshal(e.Result, &album))
	require.Equal(t, bold(0, 3), album[0].Caps)
	require.Equal(t, bold(1, 2), album[1].Caps)
	require.Equal(t, "one", album[0].Caption)
}

func TestAnEditReplacesTextAndEntities(t *testing.T) {
	t.Parallel()
	b := talk(t)
	own := b.say(1001, "x")
	edit := params{"chat_id": 1001, "message_id": own, "text": "<b>x</b>", "parse_mode": "HTML"}
	require.Equal(t, bold(0, 1), b.said("editMessageText", edit).Entities, "new entities are a change")
	require.Equal(t, notModified, b.call("editMessageText", edit).Description)
	require.Equal(t, notModified, b.call("editMessageText", params{
		"chat_id": 1001, "message_id": own, "text": "x", "entities": bold(0, 1),
	}).Description, "the same in other words")
	keyboard := params{"chat_id": 1001, "message_id": own, "reply_markup": params{"inline_keyboard": []any{}}}
	require.Equal(t, bold(0, 1), b.said("editMessageReplyMarkup", keyboard).Entities, "a keyboard leaves the text alone")
	plain := b.said("editMessageText", params{"chat_id": 1001, "message_id": own, "text": "x"})
	require.Nil(t, plain.Entities)
	require.Equal(t, "x", b.Ledger(1001)[0].Edits[0].Text)

	photo := b.said("sendPhoto", params{"chat_id": 1001, "photo": "x"}).ID
	caption := params{"chat_id": 1001, "message_id": photo, "caption": "`c`", "parse_mode": "Markdown"}
	require.Equal(t, "code", b.said("editMessageCaption", caption).Caps[0].Type)
	media := params{"chat_id": 1001, "message_id": photo, "media": params{"type": "photo", "media": "x", "caption": "*c*", "parse_mode": "Markdown"}}
	require.Equal(t, bold(0, 1), b.said("editMessageMedia", media).Caps)
}

func TestACopyKeepsEntitiesUnlessItHasACaption(t *testing.T) {
	t.Parallel()
	b := talk(t)
	own := b.said("sendMessage", params{"chat_id": 1001, "text": "*x*", "parse_mode": "Markdown"}).ID
	from := params{"chat_id": 1001, "from_chat_id": 1001, "message_id": own}
	require.Equal(t, bold(0, 1), b.said("forwardMessage", from).Entities)
	from["caption"], from["parse_mode"] = "<i>y</i>", "HTML"
	require.True(t, b.call("copyMessage", from).OK)
	copied := b.Ledger(1001)[2]
	require.Equal(t, "y | italic 0+1", outline(telegramsim.Formatted{Text: copied.Text, Entities: copied.Entities}))
	from["caption"] = strings.Repeat("y", 1025)
	require.Equal(t, "Bad Request: message caption is too long", b.call("copyMessage", from).Description)
}

func TestMarkupDoesNotCountForTheLimits(t *testing.T) {
	t.Parallel()
	b := talk(t)
	for _, c := range []struct {
		method, field, text, want string
	}{
		{"sendMessage", "text", "<b>" + strings.Repeat("&lt;", 4096) + "</b>", ""},
		{"sendMessage", "text", "<b>" + strings.Repeat("a", 4097) + "</b>", "message is too long"},
		{"sendMessage", "text", "<b> </b>\n", "message text is empty"},
		{"sendMessage", "text", "<b></b>", "message text is empty"},
		{"sendMessage", "text", strings.Repeat("a", 1<<15+1), "text is too long"},
		{"sendPhoto", "caption", "<b>" + strings.Repeat("é", 1024) + "</b>", ""},
		{"sendPhoto", "caption", "<b>" + strings.Repeat("é", 1025) + "</b>", "message caption is too long"},
		{"sendPhoto", "caption", "<b></b>", ""},
	} {
		e := b.call(c.method, params{"chat_id": 1001, c.field: c.text, "parse_mode": "HTML"})
		require.Equal(t, c.want, strings.TrimPrefix(e.Description, "Bad Request: "), "%.20s", c.text)
	}
}

func TestLengthCanBeMeasuredInUTF16(t *testing.T) {
	t.Parallel()
	b := talk(t)
	text := params{"chat_id": 1001, "text": strings.Repeat("😀", 2048) + "a"}
	caption := params{"chat_id": 1001, "caption": strings.Repeat("😀", 512) + "a"}
	require.True(t, b.call("sendMessage", text).OK)
	require.True(t, b.call("sendPhoto", caption).OK)
	b.SetLimits(telegramsim.Limits{Off: true, UTF16: true})
	require.Equal(t, "Bad Request: message is too long", b.call("sendMessage", text).Description)
	require.Equal(t, "Bad Request: message caption is too long", b.call("sendPhoto", caption).Description)
	b.say(1001, strings.Repeat("😀", 2048))

	var limits fields
	b.admin("POST", "/limits", `{"utf16":true}`, 200, &limits)
	require.Equal(t, true, limits["utf16"])
	require.Equal(t, 400, b.call("sendMessage", text).Code)
}

package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/text"
)

const family = "👨‍👩‍👧‍👦"

func TestATextIsCutWhereTelegramsLimitIs(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text string
		want []int // code points of each piece
	}{
		"one less":                       {strings.Repeat("a", 4095), []int{4095}},
		"all that fits":                  {strings.Repeat("a", 4096), []int{4096}},
		"one more":                       {strings.Repeat("a", 4097), []int{4096, 1}},
		"emoji count once":               {strings.Repeat("😀", 4096), []int{4096}},
		"one emoji more":                 {strings.Repeat("😀", 4097), []int{4096, 1}},
		"one long word":                  {strings.Repeat("x", 10000), []int{4096, 4096, 1808}},
		"Arabic":                         {strings.Repeat("سلام ", 1000), []int{4095, 905}},
		"nothing behind the limit":       {strings.Repeat("a", 4096) + " \n", []int{4096}},
		"a carriage return at the limit": {strings.Repeat("a", 4095) + "\r\nb", []int{4095, 3}},
		"a line end at the limit":        {strings.Repeat("a", 4094) + "\r\nb", []int{4096, 1}},
		"combining marks":                {strings.Repeat("e\u0301", 3000), []int{4096, 1904}},
		"families":                       {strings.Repeat(family, 5000), lotsOf(4095, 7*5000)},
	} {
		all := cut(t, params{"chat_id": 1, "text": row.text})
		require.Equal(t, row.want, lengths(all), name)
		require.Equal(t, strings.TrimSpace(row.text), strings.TrimSpace(joined(all)), name)
	}
}

// lotsOf are pieces of n code points until total is reached.
func lotsOf(n, total int) []int {
	var all []int
	for ; total > n; total -= n {
		all = append(all, n)
	}
	return append(all, total)
}

func TestAPieceEndsWhereAReaderWouldPause(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("word ", 500) // 2500
	for name, row := range map[string]struct{ first, rest string }{
		"a blank line":                 {words + "\n\n", "word\n" + words + "\n" + words},
		"a line":                       {words + "\n", words},
		"a word":                       {strings.Repeat("word ", 819), strings.Repeat("word ", 300)},
		"not a line in the first half": {"title\n" + strings.Repeat("word ", 818), strings.Repeat("word ", 300)},
		"an indented blank line":       {words + "\r\n\r\n", words},
	} {
		all := cut(t, params{"chat_id": 1, "text": row.first + row.rest})
		require.Equal(t, row.first, all[0].Text, name)
		require.Equal(t, row.first+row.rest, joined(all), name)
	}
}

func TestWhatFitsIsReturnedByteForByte(t *testing.T) {
	t.Parallel()
	bold := "<b>" + strings.Repeat("a", 4096) + "</b>"
	for method, raw := range map[string]string{
		"sendMessage":         `{ "text" : "` + bold + `", "parse_mode":"HTML", "chat_id": 12345678901234567890, "new": 1.50}`,
		"SENDMESSAGE":         `{"chat_id":1,"text":"*broken","parse_mode":"MarkdownV2"}`,
		"sendPhoto":           `{"chat_id":1,"photo":{"@file":"x"},"caption":""}`,
		"sendDocument":        `{"chat_id":1,"caption":"a"}`,
		"sendSticker":         `{"chat_id":1}`,
		"getMe":               `{}`,
		"sendPoll":            `{"chat_id":1,"question":"q"}`,
		"answerCallbackQuery": `{"text":"` + strings.Repeat("a", 5000) + `"}`,
		"editMessageText":     `{"text":"` + strings.Repeat("a", 4096) + `"}`,
		"editMessageCaption":  `{"caption":"<b>` + strings.Repeat("a", 1024) + `</b>","parse_mode":"html"}`,
		"sendMediaGroup":      `{"media":[{"type":"photo","caption":"a"},{"type":"photo"}]}`,
		"sendVideo":           `{"caption":5}`,
		"editMessageMedia":    `{"media":"{\"caption\":\"a\"}"}`,
	} {
		requireUntouched(t, method, json.RawMessage(raw))
	}
}

func TestMarkupDoesNotCountButIsReadNoFurtherThanTelegramDoes(t *testing.T) {
	t.Parallel()
	link := `<a href="https://example.com/` + strings.Repeat("x", 200) + `">a</a>`
	requireUntouched(t, "sendMessage", params{"text": strings.Repeat(link, 100), "parse_mode": "HTML"}.json(t))
	all := cut(t, params{"text": strings.Repeat(link, 200), "parse_mode": "HTML"})
	require.Equal(t, []int{200}, lengths(all), "32 KiB are not read at once")
	require.Len(t, all[0].Entities, 200)
	require.Empty(t, all[0].ParseMode)
}

func TestWhatCannotBeCutIsRefusedWithoutItsText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("secret", 1000)
	for name, row := range map[string]struct {
		method string
		params params
		want   error
	}{
		"an edit":              {"editMessageText", params{"text": long}, text.ErrWhole},
		"a draft":              {"sendMessageDraft", params{"text": long}, text.ErrWhole},
		"an edited caption":    {"editMessageCaption", params{"caption": long}, text.ErrWhole},
		"an album":             {"sendMediaGroup", params{"media": []params{{}, {"caption": long}}}, text.ErrWhole},
		"other media":          {"editMessageMedia", params{"media": params{"caption": long}}, text.ErrWhole},
		"old Markdown":         {"sendMessage", params{"text": long, "parse_mode": "Markdown"}, text.ErrWhole},
		"one long character":   {"sendMessage", params{"text": "a" + strings.Repeat("\u0301", 5000)}, text.ErrWhole},
		"no text":              {"sendMessage", params{"text": ""}, text.ErrEmpty},
		"a blank text":         {"sendMessage", params{"text": " \n\u200b"}, text.ErrEmpty},
		"a long blank text":    {"sendMessage", params{"text": strings.Repeat("\n", 5000)}, text.ErrEmpty},
		"markup around none":   {"sendMessage", params{"text": strings.Repeat("<b></b>", 1000), "parse_mode": "HTML"}, text.ErrEmpty},
		"broken HTML":          {"sendMessage", params{"text": "<b>" + long, "parse_mode": "HTML"}, text.ErrMarkup},
		"broken Markdown":      {"editMessageText", params{"text": "*" + long, "parse_mode": "MarkdownV2"}, text.ErrMarkup},
		"entities that are no": {"sendMessage", params{"text": long, "entities": 5}, text.ErrEntities},
		"an entity before 0":   {"sendMessage", params{"text": long, "entities": []params{{"offset": -1, "length": 2}}}, text.ErrEntities},
		"an entity nowhere":    {"sendMessage", params{"text": long, "entities": []params{{"type": "bold"}}}, text.ErrEntities},
	} {
		pieces, err := text.Split(row.method, row.params.json(t))
		require.ErrorIs(t, err, row.want, name)
		if err != nil {
			require.NotContains(t, err.Error(), "secret", name)
		}
		require.True(t, err == nil || pieces == nil || len(pieces) == 1, name)
	}
	_, err := text.Split("sendMessage", json.RawMessage(`[]`))
	require.Error(t, err)
}

func TestATextThatIsNoTextIsRefused(t *testing.T) {
	t.Parallel()
	for raw, valid := range map[string]bool{
		`"\ud83d\ude00"`:         true,
		`"\ufffd"`:               true,
		`"\\ud83d"`:              true,
		`"\ud83d"`:               false,
		`"\ude00\ud83d"`:         false,
		`"\ud83d\u0041"`:         false,
		"\"a\xff\"":              false,
		`"\ud83d\ud83d\ude00 x"`: false,
	} {
		_, err := text.Split("sendMessage", json.RawMessage(`{"text":`+raw+`}`))
		if valid {
			require.NoError(t, err, raw)
		} else {
			require.ErrorIs(t, err, text.ErrUTF8, raw)
		}
	}
}

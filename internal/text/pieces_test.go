package text_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/text"
)

func TestTheRestOfACaptionFollowsAsText(t *testing.T) {
	t.Parallel()
	raw := params{
		"chat_id": 1, "photo": params{"@file": "x"}, "caption": strings.Repeat("a", 6000), "show_caption_above_media": true,
		"reply_markup": params{"force_reply": true}, "has_spoiler": true, "protect_content": true,
	}.json(t)
	pieces, err := text.Split("sendPhoto", raw)
	require.NoError(t, err)
	require.Len(t, pieces, 3)
	require.Equal(t, "sendPhoto", pieces[0].Method)
	require.JSONEq(t, `{"chat_id":1,"photo":{"@file":"x"},"caption":"`+strings.Repeat("a", 1024)+
		`","show_caption_above_media":true,"has_spoiler":true,"protect_content":true}`, string(pieces[0].Params))
	require.Equal(t, "sendMessage", pieces[1].Method)
	require.JSONEq(t, `{"chat_id":1,"text":"`+strings.Repeat("a", 4096)+`","protect_content":true}`, string(pieces[1].Params))
	require.JSONEq(t, `{"chat_id":1,"text":"`+strings.Repeat("a", 880)+`","protect_content":true,"reply_markup":{"force_reply":true}}`, string(pieces[2].Params))
}

func TestALongBlankCaptionIsNone(t *testing.T) {
	t.Parallel()
	pieces, err := text.Split("sendVideo", params{"video": "x", "caption": strings.Repeat(" ", 2000), "reply_markup": 1}.json(t))
	require.NoError(t, err)
	require.Len(t, pieces, 1)
	require.JSONEq(t, `{"video":"x","caption":"","reply_markup":1}`, string(pieces[0].Params))
}

func TestEveryPieceGoesWhereTheFirstGoes(t *testing.T) {
	t.Parallel()
	everywhere := `"allow_paid_broadcast":true,"business_connection_id":"b","chat_id":-1001234567890123456789,"direct_messages_topic_id":3,` +
		`"disable_notification":true,"ephemeral_message_parameters":{"receiver_user_id":5},"link_preview_options":{"is_disabled":true},` +
		`"message_thread_id":2,"protect_content":true`
	raw := `{` + everywhere + `,"message_effect_id":"e","reply_parameters":{"message_id":9},"reply_markup":{"x":1.0},"text":"` + strings.Repeat("a", 9000) + `"}`
	pieces, err := text.Split("sendMessage", json.RawMessage(raw))
	require.NoError(t, err)
	require.Len(t, pieces, 3)
	require.JSONEq(t, `{`+everywhere+`,"message_effect_id":"e","reply_parameters":{"message_id":9},"text":"`+strings.Repeat("a", 4096)+`"}`, string(pieces[0].Params))
	require.JSONEq(t, `{`+everywhere+`,"text":"`+strings.Repeat("a", 4096)+`"}`, string(pieces[1].Params))
	require.JSONEq(t, `{`+everywhere+`,"reply_markup":{"x":1.0},"text":"`+strings.Repeat("a", 808)+`"}`, string(pieces[2].Params))
	for _, piece := range pieces {
		require.Contains(t, string(piece.Params), "-1001234567890123456789", "numbers stay as they were written")
	}
}

func TestACutEntityIsContinuedWithAllItSays(t *testing.T) {
	t.Parallel()
	entity := params{"type": "text_link", "url": "https://e.org", "offset": 4000, "length": 8000, "new_field": []int{1}}
	all := cut(t, params{"text": strings.Repeat("😀", 5000), "entities": []params{entity}})
	require.Equal(t, []int{4096, 904}, lengths(all))
	continued := func(offset, length float64) []map[string]any {
		return []map[string]any{{
			"type": "text_link", "url": "https://e.org", "new_field": []any{1.0}, "offset": offset, "length": length,
		}}
	}
	require.Equal(t, continued(4000, 4192), all[0].Entities)
	require.Equal(t, continued(0, 1808), all[1].Entities, "what reaches beyond the text ends with it")
}

func TestEntitiesMayComeAsAString(t *testing.T) {
	t.Parallel()
	all := cut(t, params{"text": strings.Repeat("a", 5000), "entities": `[{"type":"bold","offset":4095,"length":2},{"type":"code","offset":9000,"length":2}]`})
	require.Equal(t, []map[string]any{{"type": "bold", "offset": 4095.0, "length": 1.0}}, all[0].Entities)
	require.Equal(t, []map[string]any{{"type": "bold", "offset": 0.0, "length": 1.0}}, all[1].Entities)
	require.Len(t, cut(t, params{"text": strings.Repeat("a", 5000), "entities": nil, "parse_mode": "None"}), 2)
}

func TestMarkupIsClosedAndOpenedAgainAtACut(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	for mode, row := range map[string]struct{ source, entity string }{
		"HTML":       {`<pre><code class="language-go">` + strings.Repeat(line, 60) + `</code></pre>`, `{"type":"pre","language":"go"}`},
		"MarkdownV2": {"[" + strings.Repeat(line, 60) + "](tg://user?id=7)", `{"type":"text_mention","user":{"id":7}}`},
	} {
		all := cut(t, params{"text": row.source, "parse_mode": mode})
		require.Equal(t, []int{4000, 2000}, lengths(all), mode)
		require.Equal(t, strings.Repeat(line, 60), joined(all), mode)
		for i, length := range []float64{4000, 2000} {
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(row.entity), &want))
			want["offset"], want["length"] = 0.0, length
			require.Equal(t, []map[string]any{want}, all[i].Entities, mode)
			require.Empty(t, all[i].ParseMode)
		}
	}
}

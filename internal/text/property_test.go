package text_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/text"
)

// shreds are what texts are made of: letters of one, two and four bytes, characters
// of several code points, line ends, and stretches without anything to see.
var shreds = []string{
	"a", "word ", "é", "سلام ", "日本", "😀", family, "e\u0301\u0302", "🇳🇴", "\r\n", "\n\n", "\n", " ", strings.Repeat(" ", 700), strings.Repeat("x", 900),
}

// textOf draws a text of up to about 12,000 code points.
func textOf(t *rapid.T) string {
	var b strings.Builder
	for _, shred := range rapid.SliceOfN(rapid.SampledFrom(shreds), 1, 30).Draw(t, "shreds") {
		b.WriteString(strings.Repeat(shred, 1+rapid.IntRange(0, 400).Draw(t, "times")/utf8.RuneCountInString(shred)))
	}
	return b.String()
}

// entitiesOf draws entities of the text between characters, each of its own kind.
func entitiesOf(t *rapid.T, s string) []params {
	borders := []int{0}
	for rest, at := s, 0; rest != ""; {
		var cluster string
		cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(rest, -1)
		at += text.Units(cluster)
		borders = append(borders, at)
	}
	border := rapid.IntRange(0, len(borders)-1)
	var all []params
	for i := range rapid.IntRange(0, 6).Draw(t, "entities") {
		from, to := border.Draw(t, "from"), border.Draw(t, "to")
		from, to = borders[min(from, to)], borders[max(from, to)]
		if from < to {
			all = append(all, params{"type": "bold", "id": i, "offset": from, "length": to - from})
		}
	}
	return all
}

// painted are the entities of each UTF-16 code unit of a text, as bits.
func painted(t require.TestingT, s string, entities []map[string]any) []int {
	units := make([]int, text.Units(s))
	for _, e := range entities {
		offset, length := int(e["offset"].(float64)), int(e["length"].(float64))
		require.Positive(t, length)
		for i := offset; i < offset+length; i++ {
			units[i] |= 1 << int(e["id"].(float64))
		}
	}
	return units
}

func asRead(t require.TestingT, entities []params) []map[string]any {
	var all []map[string]any
	for _, e := range entities {
		var one map[string]any
		require.NoError(t, json.Unmarshal(e.json(t), &one))
		all = append(all, one)
	}
	return all
}

// requireBetweenCharacters checks that a piece begins and ends where one of the
// text's characters does.
func requireBetweenCharacters(t require.TestingT, s string, at int) {
	for rest := s; at > 0; {
		var cluster string
		cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(rest, -1)
		at -= len(cluster)
	}
	require.Zero(t, at, "a character is cut")
}

func TestThePiecesAreTheTextWithItsFormattingInTelegramsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := textOf(t)
		entities := entitiesOf(t, s)
		p := params{"chat_id": 1, "text": s, "entities": entities, "reply_markup": params{"x": 1}, "reply_parameters": params{"message_id": 3}}
		if text.Blank(s) {
			_, err := text.Split("sendMessage", p.json(t))
			require.ErrorIs(t, err, text.ErrEmpty)
			return
		}
		all := cut(t, p)
		colors, at, unit := painted(t, s, asRead(t, entities)), 0, 0
		for i, piece := range all {
			require.LessOrEqual(t, utf8.RuneCountInString(piece.Text), 4096)
			require.False(t, text.Blank(piece.Text))
			require.Equal(t, i == len(all)-1, piece.ReplyMarkup != nil)
			left := strings.Index(s[at:], piece.Text) // behind what was left out
			require.True(t, left >= 0 && text.Blank(s[at:at+left]), "a part with something to see is missing")
			unit += text.Units(s[at : at+left])
			at += left
			requireBetweenCharacters(t, s, at)
			length := text.Units(piece.Text)
			require.Equal(t, colors[unit:unit+length], painted(t, piece.Text, piece.Entities))
			at, unit = at+len(piece.Text), unit+length
			requireBetweenCharacters(t, s, at)
		}
		require.True(t, text.Blank(s[at:]))
		require.Equal(t, all, cut(t, p), "the same call gives the same pieces")
	})
}

// marked draws a piece of markup and the text in it.
func marked(t *rapid.T, mode string) (source, plain string) {
	plain = rapid.StringOfN(rapid.SampledFrom([]rune("ab *_<&.😀\n")), 1, 600, -1).Draw(t, "plain")
	if mode == "HTML" {
		tag := rapid.SampledFrom([]string{"b", "i", "pre", "tg-spoiler"}).Draw(t, "tag")
		return "<" + tag + ">" + text.EscapeHTML(plain) + "</" + tag + ">", plain
	}
	mark := rapid.SampledFrom([]string{"*", "__", "~", "||", "`"}).Draw(t, "mark")
	return mark + text.EscapeMarkdown(plain) + mark, plain
}

func TestThePiecesOfMarkupAreTheTextInIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"HTML", "markdownv2"}).Draw(t, "mode")
		source, plain := strings.Repeat("a", 4096), strings.Repeat("a", 4096)
		for range rapid.IntRange(1, 20).Draw(t, "parts") {
			part, inner := marked(t, mode)
			source, plain = source+part, plain+inner
		}
		all := cut(t, params{"text": source, "parse_mode": mode})
		if len(all) == 1 && all[0].ParseMode != "" {
			t.Fatal("more than the limit came back whole")
		}
		require.Equal(t, strings.TrimSpace(plain), strings.TrimSpace(joined(all)))
		for _, piece := range all {
			require.LessOrEqual(t, utf8.RuneCountInString(piece.Text), 4096)
			var spans []text.Span
			for _, e := range piece.Entities {
				spans = append(spans, text.Span{Offset: int(e["offset"].(float64)), Length: int(e["length"].(float64))})
			}
			requireInside(t, piece.Text, spans)
		}
	})
}

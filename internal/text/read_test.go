package text_test

import (
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/text"
)

// reader is one of the two readers of markup.
type reader func(string) (string, []text.Span, error)

// read is a text that a reader takes, with what it should find.
type read struct {
	source, text string
	spans        []text.Span
}

func span(offset, length int, attributes string) text.Span {
	return text.Span{Offset: offset, Length: length, Attributes: attributes}
}

func typed(offset, length int, kind string) text.Span {
	return span(offset, length, `{"type":"`+kind+`"}`)
}

func requireReads(t *testing.T, parse reader, rows []read) {
	t.Helper()
	for _, row := range rows {
		got, spans, err := parse(row.source)
		require.NoError(t, err, row.source)
		require.Equal(t, row.text, got, row.source)
		require.Equal(t, row.spans, spans, row.source)
	}
}

func requireRefused(t *testing.T, parse reader, rows map[string]int) {
	t.Helper()
	for source, at := range rows {
		_, _, err := parse(source)
		require.ErrorIs(t, err, text.ErrMarkup, source)
		mistake := new(text.MarkupError)
		require.ErrorAs(t, err, &mistake, source)
		require.Equal(t, at, mistake.At, "%s: %v", source, err)
	}
}

// requireInside checks what holds for every text that a reader takes: entities
// begin and end inside it, and between two code points.
func requireInside(t require.TestingT, got string, spans []text.Span) {
	require.True(t, utf8.ValidString(got))
	encoded := utf16.Encode([]rune(got))
	for _, s := range spans {
		require.Positive(t, s.Length)
		require.GreaterOrEqual(t, s.Offset, 0)
		require.LessOrEqual(t, s.Offset+s.Length, len(encoded))
		for _, at := range []int{s.Offset, s.Offset + s.Length} {
			require.False(t, at < len(encoded) && encoded[at] >= 0xdc00 && encoded[at] <= 0xdfff, "inside a pair")
		}
	}
}

func fuzz(f *testing.F, parse reader, seeds []string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if !utf8.ValidString(source) {
			return // JSON holds none
		}
		got, spans, err := parse(source)
		if err != nil {
			mistake := new(text.MarkupError)
			require.ErrorAs(t, err, &mistake)
			require.GreaterOrEqual(t, mistake.At, 0)
			require.LessOrEqual(t, mistake.At, len(source))
			return
		}
		requireInside(t, got, spans)
		require.LessOrEqual(t, len([]rune(got)), len([]rune(source)), "markup only shortens a text")
	})
}

func TestEscapedTextIsReadAsItWas(t *testing.T) {
	t.Parallel()
	awkward := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("_*[]()~`>#+-=|{}.!\\<&;\"'\n\r😀é")), rapid.Rune()))
	for range 100 { // rapid makes 100 of each
		rapid.Check(t, func(t *rapid.T) {
			s := awkward.Draw(t, "text")
			for escape, parse := range map[string]reader{text.EscapeHTML(s): text.ParseHTML, text.EscapeMarkdown(s): text.ParseMarkdown} {
				got, spans, err := parse(escape)
				require.NoError(t, err)
				require.Equal(t, s, got)
				require.Empty(t, spans)
			}
		})
	}
}

func TestEscapesStandForThemselvesInsideTagsAndAddresses(t *testing.T) {
	t.Parallel()
	address := `https://example.com/?a='1'&b=(2)`
	want := []text.Span{span(0, 1, `{"type":"text_link","url":"`+address+`"}`)}
	_, spans, err := text.ParseHTML(`<a href="` + text.EscapeHTML(address) + `">x</a>`)
	require.NoError(t, err)
	require.Equal(t, want, spans)
	_, spans, err = text.ParseMarkdown(`[x](` + text.EscapeMarkdown(address) + `)`)
	require.NoError(t, err)
	require.Equal(t, want, spans)
}

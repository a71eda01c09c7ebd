package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
	"github.com/durabot/durabot/internal/text"
)

// scraps are pieces of markup, whole and broken, from which texts are put together.
var scraps = map[string][]string{
	"HTML": {
		"a", " ", "😀", "\n", "<b>", "</b>", "<i>", "</i>", "<u>", "</u>", "<s>", "</s>", "<code>", "</code>", "<pre>", "</pre>",
		`<a href="https://example.org/">`, "</a>", "<blockquote>", "</blockquote>", "<tg-spoiler>", "</tg-spoiler>", "&lt;", "&amp;", "&#65;", "&", ">", "</", "<x>",
	},
	"MarkdownV2": {
		"a", " ", "😀", "\n", "*", "_", "__", "~", "||", "`", "```", "\\*", "\\", "[", "](https://example.org/)", "]", "(", ")", ">", "\n>", "**>", ".", "!", "\\.",
	},
}

// What Telegram takes is read twice, here and by the simulator, by parsers that
// were written apart. Attributes are left out: the tokenizer takes more than
// Telegram does, which would refuse the text.
func TestBothParsersReadTheSame(t *testing.T) {
	t.Parallel()
	for mode, parse := range map[string]func(string) (string, []text.Span, error){"HTML": text.ParseHTML, "MarkdownV2": text.ParseMarkdown} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(scraps[mode]), 1, 12).Draw(t, "scraps"), "")
				theirs, refused := telegramsim.ParseText(source, mode)
				ours, spans, err := parse(source)
				require.Equal(t, refused == nil, err == nil, "%q: %v, but %v", source, refused, err)
				if err != nil {
					return
				}
				require.Equal(t, theirs.Text, ours, "%q", source)
				require.Len(t, spans, len(theirs.Entities), "%q: %v %v", source, spans, theirs.Entities)
			})
		})
	}
}

package telegramsim_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

// parse is a text with markup and what becomes of it: an outline or, after "error: ", an
// error without its common beginning.
type parse struct{ markup, want string }

const mistake = "can't parse entities: "

// requireParses tries a table in one mode.
func requireParses(t *testing.T, mode string, table []parse) {
	t.Helper()
	for _, c := range table {
		t.Run(c.markup, func(t *testing.T) {
			t.Parallel()
			f, err := telegramsim.ParseText(c.markup, mode)
			if reason, isError := strings.CutPrefix(c.want, "error: "); isError {
				require.EqualError(t, err, mistake+reason)
				require.Zero(t, f)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, outline(f))
			requireInside(t, f)
		})
	}
}

// outline is a text with its entities, "text | bold 0+4 | pre 2+1 go".
func outline(f telegramsim.Formatted) string {
	parts := []string{f.Text}
	for _, e := range f.Entities {
		part := fmt.Sprintf("%s %d+%d", e.Type, e.Offset, e.Length)
		for _, detail := range []string{e.URL, e.Language, e.CustomEmojiID, e.Format} {
			if detail != "" {
				part += " " + detail
			}
		}
		if e.User != nil {
			part += fmt.Sprint(" ", e.User.ID)
		}
		if e.UnixTime != 0 {
			part += fmt.Sprint(" ", e.UnixTime)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " | ")
}

// requireInside holds that every entity covers whole code points of the text.
func requireInside(t require.TestingT, f telegramsim.Formatted) {
	units := utf16.Encode([]rune(f.Text))
	for i, e := range f.Entities {
		require.Positive(t, e.Length)
		require.GreaterOrEqual(t, e.Offset, 0)
		require.LessOrEqual(t, e.Offset+e.Length, len(units))
		for _, border := range []int{e.Offset, e.Offset + e.Length} {
			if border < len(units) {
				require.False(t, units[border] >= 0xdc00 && units[border] <= 0xdfff, "a border inside a pair")
			}
		}
		if i > 0 {
			require.GreaterOrEqual(t, e.Offset, f.Entities[i-1].Offset, "sorted")
		}
	}
}

func TestParseModeIsOneOfFour(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"":           "*<b>x</b>*",
		"None":       "*<b>x</b>*",
		"hTmL":       "*x* | bold 1+1",
		"markdown":   "<b>x</b> | bold 0+8",
		"MARKDOWNV2": "error: can't parse entities: Character '>' is reserved and must be escaped with the preceding '\\'",
		"XML":        "error: unsupported parse_mode",
	} {
		f, err := telegramsim.ParseText("*<b>x</b>*", mode)
		if reason, isError := strings.CutPrefix(want, "error: "); isError {
			require.EqualError(t, err, reason, mode)
			continue
		}
		require.NoError(t, err, mode)
		require.Equal(t, want, outline(f), mode)
	}
}

var modes = []string{"HTML", "MarkdownV2", "Markdown"}

// pieces is a text put together of what the parsers look at, so that most draws are
// nested, broken or both.
func pieces() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "é", "😀", " ", "\n", "\r", "\\", "\x00", "*", "_", "__", "~", "||", "`", "```", "```go\n", "[", "](t.me)", "](tg://user?id=5)",
		"![", "](tg://emoji?id=5)", "(", ")", "]", "!", ">", "**>", "<", "</", "<b>", "</b>", "<i>", "</i>", "<pre>", "</pre>", "</>",
		`<code class="language-go">`, "</code>", `<a href="t.me">`, "</a>", "<blockquote expandable>", "</blockquote>", "&", "&lt;", "&#128512;", "=", `"`, "'",
	}), 0, 30), func(list []string) string { return strings.Join(list, "") })
}

func TestEntitiesAreInsideTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f, err := telegramsim.ParseText(pieces().Draw(t, "markup"), rapid.SampledFrom(modes).Draw(t, "mode"))
		if err == nil {
			requireInside(t, f)
		}
	})
}

func TestTextWithoutReservedCharactersParsesToItself(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Map(func(r rune) rune {
			if strings.ContainsRune("\\_*[]()~`>#+-=|{}.!<&", r) {
				return '.' + 0x2000
			}
			return r
		}, rapid.String().Draw(t, "text"))
		for _, mode := range modes {
			f, err := telegramsim.ParseText(text, mode)
			require.NoError(t, err)
			require.Equal(t, telegramsim.Formatted{Text: text}, f)
		}
	})
}

func TestEscapedTextParsesToItself(t *testing.T) {
	t.Parallel()
	html := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	rapid.Check(t, func(t *rapid.T) {
		text := pieces().Draw(t, "text")
		var v2 strings.Builder
		for _, r := range text {
			if r > 0 && r <= 126 {
				v2.WriteByte('\\')
			}
			v2.WriteRune(r)
		}
		for mode, escaped := range map[string]string{"HTML": html.Replace(text), "MarkdownV2": v2.String()} {
			f, err := telegramsim.ParseText(escaped, mode)
			require.NoError(t, err)
			require.Equal(t, telegramsim.Formatted{Text: text}, f)
		}
	})
}

func TestAMarkAroundATextCoversAllOfIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aé€😀 ")), 1, -1, -1).Draw(t, "text")
		f, err := telegramsim.ParseText("<b><i>"+text+"</i></b>", "HTML")
		require.NoError(t, err)
		same, err := telegramsim.ParseText("*_"+text+"_*", "MarkdownV2")
		require.NoError(t, err)
		require.Equal(t, f, same)
		require.Equal(t, text, f.Text)
		n := len(utf16.Encode([]rune(text)))
		require.Equal(t, []telegramsim.Entity{{Type: "bold", Length: n}, {Type: "italic", Length: n}}, f.Entities)
	})
}

func FuzzParseHTML(f *testing.F) {
	fuzz(f, "HTML", `<b>x</b>`, `<a href="t.me?&lt;">x</a>`, `<pre><code class='language-go'>x</></>`, "&#x1F600;&#0", "<i a=b c", `<b a"`)
}

func FuzzParseMarkdownV2(f *testing.F) {
	fuzz(f, "MarkdownV2", "*x _y_*", "[x](t.me)", "![x](tg://emoji?id=1)", "```go\nx```", "**>q\n>r||", "\\", "___", ">||\r\n")
}

func FuzzParseMarkdown(f *testing.F) {
	fuzz(f, "Markdown", "*x*", "[x](t.me", "```go\nx```", "\\*", "[", "[](", "``")
}

// fuzz holds that nothing a bot may send makes a parser panic or hang, or puts an entity
// beside the text.
func fuzz(f *testing.F, mode string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markup string) {
		if strings.ToValidUTF8(markup, "") != markup {
			markup = strings.ToValidUTF8(markup, "�")
		}
		parsed, err := telegramsim.ParseText(markup, mode)
		if err != nil {
			require.Contains(t, err.Error(), mistake)
			return
		}
		requireInside(t, parsed)
	})
}

func ExampleParseText() {
	f, err := telegramsim.ParseText(`<b>Hello</b>, <a href="example.org">world</a>`, "HTML")
	fmt.Println(f.Text, err)
	for _, e := range f.Entities {
		fmt.Printf("%s %d+%d %q\n", e.Type, e.Offset, e.Length, e.URL)
	}
	_, err = telegramsim.ParseText("1.", "MarkdownV2")
	fmt.Println(err)
	// Output:
	// Hello, world <nil>
	// bold 0+5 ""
	// text_link 7+5 "http://example.org/"
	// can't parse entities: Character '.' is reserved and must be escaped with the preceding '\'
}

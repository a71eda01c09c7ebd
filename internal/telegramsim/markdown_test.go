package telegramsim_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestMarkdownV2BecomesEntities(t *testing.T) {
	t.Parallel()
	requireParses(t, "MarkdownV2", []parse{
		// The examples of the Bot API docs, "MarkdownV2 style".
		{`*bold \*text*`, "bold *text | bold 0+10"},
		{`_italic \*text_`, "italic *text | italic 0+12"},
		{"__underline__", "underline | underline 0+9"},
		{"~strikethrough~", "strikethrough | strikethrough 0+13"},
		{"||spoiler||", "spoiler | spoiler 0+7"},
		{
			"*bold _italic bold ~italic bold strikethrough ||italic bold strikethrough spoiler||~ __underline italic bold___ bold*",
			"bold italic bold italic bold strikethrough italic bold strikethrough spoiler underline italic bold bold" +
				" | bold 0+103 | italic 5+93 | strikethrough 17+59 | spoiler 43+33 | underline 77+21",
		},
		{"[inline URL](http://www.example.com/)", "inline URL | text_link 0+10 http://www.example.com/"},
		{"[mention](tg://user?id=123456789)", "mention | text_mention 0+7 123456789"},
		{"![👍](tg://emoji?id=5368324170671202286)", "👍 | custom_emoji 0+2 5368324170671202286"},
		{"![22:45 tomorrow](tg://time?unix=1647531900&format=wDT)", "22:45 tomorrow | date_time 0+14 wDT 1647531900"},
		{"`inline fixed-width code`", "inline fixed-width code | code 0+23"},
		{"```\nblock\n```", "block\n | pre 0+6"},
		{"```python\nblock\n```", "block\n | pre 0+6 python"},
		{
			">Block quotation started\n>Block quotation continued\n>The last line of the block quotation\n" +
				"**>The expandable block quotation started right after the previous block quotation\n>The last line||",
			"Block quotation started\nBlock quotation continued\nThe last line of the block quotation\n" +
				"The expandable block quotation started right after the previous block quotation\nThe last line" +
				" | blockquote 0+87 | expandable_blockquote 87+93",
		},
		// What the docs leave open and TDLib decides.
		{"", ""},
		{`\\\a\1\➡️\`, `\a1\➡️\`},
		{"🏟_🏟 *🏟*_", "🏟🏟 🏟 | italic 2+5 | bold 5+2"},
		{"_x __y___", "x y | italic 0+3 | underline 2+1"},
		{`__x _y_\___`, "x y_ | underline 0+4 | italic 2+1"},
		{"``________````````", ""},
		{"`_* *_`__* ` `*__", "_* *_   | code 0+5 | bold 5+2 | underline 5+2 | code 6+1"},
		{"`a```", "a | code 0+1"},
		{"```a b```", " b | pre 0+2 a"},
		{"```a\r\nb```", "b | pre 0+1 a"},
		{"```a\n\nb```", "\nb | pre 0+2 a"},
		{"```a \\\\\\`b```", " \\`b | pre 0+4 a"},
		{"[ ](as)", " "},
		{"[](t.me)", ""},
		{`[telegram\.org]a`, "telegram.orga | text_link 0+12 http://telegram.org/"},
		{`[x](https://t.me?\\\()`, `x | text_link 0+1 https://t.me/?\(`},
		{`[x](\)t.me)`, "x | text_link 0+1 http://)t.me/"},
		{"[x](tg:user?id=5)", "x | text_mention 0+1 5"},
		{"🏟![👍](TG://EMoJI/?test=1231&id=25#id=32)a", "🏟👍a | custom_emoji 2+2 25"},
		{"> \n> \n>", " \n \n | blockquote 0+4"},
		{"abc\n> \n>\ndef", "abc\n \n\ndef | blockquote 4+3"},
		{"a\\\n>b", "a\nb | blockquote 2+1"},
		{">", ""},
		{">||", ""},
		{"\r>a", "\ra | blockquote 1+1"},
		{">\n**>2", "\n2 | blockquote 0+1 | blockquote 1+1"},
		{"*a\n>b\n>c\nd*", "a\nb\nc\nd | bold 0+7 | blockquote 2+4"},
		{"*>abcd\n*", "abcd\n | blockquote 0+5 | bold 0+5"},
		{">`b\n>c`\nd", "b\n>c\nd | blockquote 0+5 | code 0+4"},
		{">a||e||w||\nb", "aew\nb | expandable_blockquote 0+4 | spoiler 1+1"},
		{">a||ew||\r\nb", "aew\r\nb | blockquote 0+5 | spoiler 1+2"},
		{">a||\r\nb", "a\r\nb | expandable_blockquote 0+3"},
	})
}

func TestEveryReservedCharacterMustBeEscaped(t *testing.T) {
	t.Parallel()
	var table []parse
	for _, c := range "])}({>#+-=|.!" {
		table = append(table,
			parse{"a" + string(c), fmt.Sprintf(`error: Character '%c' is reserved and must be escaped with the preceding '\'`, c)},
			parse{`a\` + string(c), "a" + string(c)},
			parse{"`" + string(c) + "`", string(c) + " | code 0+1"},
		)
	}
	requireParses(t, "MarkdownV2", table)
}

func TestBrokenMarkdownV2IsRefusedInTelegramsWords(t *testing.T) {
	t.Parallel()
	requireParses(t, "MarkdownV2", []parse{
		{"🏟 🏟_abacaba", "error: Can't find end of Italic entity at byte offset 9"},
		{"🏟 🏟_abac * asd ", "error: Can't find end of Bold entity at byte offset 15"},
		{"🏟 🏟_abac * asd _", "error: Can't find end of Italic entity at byte offset 21"},
		{"🏟 🏟`", "error: Can't find end of Code entity at byte offset 9"},
		{"🏟 🏟```a", "error: Can't find end of Pre entity at byte offset 9"},
		{"🏟 🏟```a ", "error: Can't find end of PreCode entity at byte offset 9"},
		{"🏟 🏟```🏟 🏟`", "error: Can't find end of Code entity at byte offset 21"},
		{"🏟 🏟_🏟 🏟__", "error: Can't find end of Underline entity at byte offset 19"},
		{"🏟 🏟__🏟 _🏟___", "error: Can't find end of Italic entity at byte offset 23"},
		{`||test\|`, "error: Can't find end of Spoiler entity at byte offset 0"},
		{"~a", "error: Can't find end of Strikethrough entity at byte offset 0"},
		{"[a", "error: Can't find end of TextUrl entity at byte offset 0"},
		{`[telegram\.org](asd\)`, "error: Can't find end of a URL at byte offset 16"},
		{`[telegram\.org](`, "error: Can't find end of a URL at byte offset 16"},
		{"![👍", "error: Can't find end of CustomEmoji entity at byte offset 0"},
		{"![👍]", "error: Custom emoji entity must contain a tg://emoji URL"},
		{"![👍](tg://emoji?id=1234", "error: Can't find end of a custom emoji URL at byte offset 8"},
		{"![👍](t://emoji?id=1234)", "error: Custom emoji URL must have scheme tg"},
		{"![👍](tg:emojis?id=1234)", `error: Custom emoji URL must have host "emoji"`},
		{"![👍](tg://emoji#test)", "error: Custom emoji URL must have an emoji identifier"},
		{"![👍](tg://emoji/x?id=1)", "error: Custom emoji URL must have an emoji identifier"},
		{"![👍](tg://emoji?test=1#&id=25)", "error: Custom emoji URL must have an emoji identifier"},
		{"![👍](tg://emoji?id=025)", "error: Invalid custom emoji identifier specified"},
		{"![now](tg://time?unix=0)", "error: Invalid date specified"},
		{">*b\n>ld \n>bo\nld*\nasd", "error: Can't find end of Bold entity at byte offset 1"},
		{">\n*a*>2", `error: Character '>' is reserved and must be escaped with the preceding '\'`},
		{`\.>`, `error: Character '>' is reserved and must be escaped with the preceding '\'`},
		{"a\\\r>", `error: Character '>' is reserved and must be escaped with the preceding '\'`},
		{">asd\n>q||ew\n||asdad", "error: Can't find end of Spoiler entity at byte offset 7"},
		{">asd\n>q||e||w||a\n||asdad", "error: Can't find end of Spoiler entity at byte offset 13"},
		{">a *b||\nc", "error: Can't find end of Bold entity at byte offset 3"},
		{">a *b", "error: Can't find end of Bold entity at byte offset 3"},
	})
}

func TestLegacyMarkdownBecomesEntities(t *testing.T) {
	t.Parallel()
	requireParses(t, "Markdown", []parse{
		// The examples of the Bot API docs, "Markdown style".
		{"*bold text*", "bold text | bold 0+9"},
		{"_italic text_", "italic text | italic 0+11"},
		{"[inline URL](http://www.example.com/)", "inline URL | text_link 0+10 http://www.example.com/"},
		{"[mention](tg://user?id=123456789)", "mention | text_mention 0+7 123456789"},
		{"`inline`", "inline | code 0+6"},
		{"```\nblock\n```", "block\n | pre 0+6"},
		{"```python\nblock\n```", "block\n | pre 0+6 python"},
		// What the docs leave open and TDLib decides.
		{"1. a-b (c)! #d > e ~ ] }", "1. a-b (c)! #d > e ~ ] }"},
		{"\\_\\*\\`\\[\\.", "_*`[\\."},
		{`_snake_\__case_`, "snake_case | italic 0+5 | italic 6+4"},
		{`*a\*`, `a\ | bold 0+2`},
		{"*a _b_*", "a _b_ | bold 0+5"},
		{"**__``", ""},
		{"``````", ""},
		{"🏟*🏟*", "🏟🏟 | bold 2+2"},
		{"```a b```", " b | pre 0+2 a"},
		{"```a```", "a | pre 0+1"},
		{"[t.me]x", "t.mex | text_link 0+4 http://t.me/"},
		{"[x](t.me", "x | text_link 0+1 http://t.me/"},
		{"[x](none)", "x"},
		{"[](t.me)", "(t.me)"},
	})
}

func TestBrokenLegacyMarkdownIsRefusedInTelegramsWords(t *testing.T) {
	t.Parallel()
	requireParses(t, "Markdown", []parse{
		{strings.Repeat("é", 59) + "*a", "error: Can't find end of the entity starting at byte offset 118"},
		{"snake_case", "error: Can't find end of the entity starting at byte offset 5"},
		{"[", "error: Can't find end of the entity starting at byte offset 0"},
		{"`a", "error: Can't find end of the entity starting at byte offset 0"},
		{"```a`", "error: Can't find end of the entity starting at byte offset 0"},
		{`a *b_`, "error: Can't find end of the entity starting at byte offset 2"},
	})
}

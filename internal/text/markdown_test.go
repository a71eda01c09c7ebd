package text_test

import (
	"testing"

	"github.com/durabot/durabot/internal/text"
)

var markdownReads = []read{
	{"plain", "plain", nil},
	{`1\. a\_b \\ \a \é`, `1. a_b \ a \é`, nil},
	{"*a*_b_ __c__~d~||e||`f`", "ab cdef", []text.Span{
		typed(0, 1, "bold"), typed(1, 1, "italic"), typed(3, 1, "underline"),
		typed(4, 1, "strikethrough"), typed(5, 1, "spoiler"), typed(6, 1, "code"),
	}},
	{"*😀 _x_ 😀*", "😀 x 😀", []text.Span{typed(0, 7, "bold"), typed(3, 1, "italic")}},
	{"_a__b___", "ab", []text.Span{typed(0, 2, "italic"), typed(1, 1, "underline")}}, // the longer mark comes first
	{"**a", "a", nil},
	{"`a*_[\\``", "a*_[`", []text.Span{typed(0, 5, "code")}},
	{"```\na\n```", "a\n", []text.Span{typed(0, 2, "pre")}},
	{"```go\r\na```", "a", []text.Span{span(0, 1, `{"language":"go","type":"pre"}`)}},
	{"```go```", "go", []text.Span{typed(0, 2, "pre")}},
	{"``` a```", " a", []text.Span{typed(0, 2, "pre")}},
	{`[x](https://e.org/a\)b_c)`, "x", []text.Span{span(0, 1, `{"type":"text_link","url":"https://e.org/a)b_c"}`)}},
	{`[e\.org]`, "e.org", []text.Span{span(0, 5, `{"type":"text_link","url":"e.org"}`)}},
	{`[x](nowhere)`, "x", nil},
	{`[*x*](tg://user?id=42)`, "x", []text.Span{typed(0, 1, "bold"), span(0, 1, `{"type":"text_mention","user":{"id":42}}`)}},
	{`![👍](tg://emoji?id=5368324170671202286)`, "👍", []text.Span{
		span(0, 2, `{"custom_emoji_id":"5368324170671202286","type":"custom_emoji"}`),
	}},
	{`![then](tg://time?unix=1647531900&format=r)`, "then", []text.Span{
		span(0, 4, `{"date_time_format":"r","type":"date_time","unix_time":1647531900}`),
	}},
	{">a\n>b\nc", "a\nb\nc", []text.Span{typed(0, 4, "blockquote")}},
	{"a\n>b", "a\nb", []text.Span{typed(2, 1, "blockquote")}},
	{">a\n**>b\n>c||", "a\nb\nc", []text.Span{typed(0, 2, "blockquote"), typed(2, 3, "expandable_blockquote")}},
	{">a||\r\nb", "a\r\nb", []text.Span{typed(0, 3, "expandable_blockquote")}},
	{">*a\n>b*\n||c||", "a\nb\nc", []text.Span{typed(0, 4, "blockquote"), typed(0, 3, "bold"), typed(4, 1, "spoiler")}},
	{">", "", nil},
	{"a\\\n>b", "a\nb", []text.Span{typed(2, 1, "blockquote")}},
	{"a\n\r>b", "a\n\rb", []text.Span{typed(3, 1, "blockquote")}},
}

func TestMarkdownIsReadAsTelegramReadsIt(t *testing.T) {
	t.Parallel()
	requireReads(t, text.ParseMarkdown, markdownReads)
}

func TestAMistakeInMarkdownIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	rows := map[string]int{
		"é *x":                    3,
		"a [x](https://e.org":     6,
		"![x]":                    0,
		"![x](https://e.org)":     0,
		"![x](tg://emoji?id=a)":   0,
		"![x](tg://time?unix=-1)": 0,
		"a >b":                    2,
		">*a\nb*":                 1,
		">*||\n":                  2,
		">||a\nb":                 1,
		"`a\n`>b":                 4,
		"```a``":                  0,
		"*a _b* c_":               8,
		"a|b":                     1,
	}
	for _, c := range "]()#+-=|{}.!" {
		rows["ab"+string(c)] = 2
	}
	requireRefused(t, text.ParseMarkdown, rows)
}

func FuzzMarkdown(f *testing.F) {
	seeds := []string{"*_a*_", ">*||\n", "_a___", "```", "[](", "![](", "\\", ">||", ">\n>\r\n||\r\n", "**>**>||"}
	for _, row := range markdownReads {
		seeds = append(seeds, row.source)
	}
	fuzz(f, text.ParseMarkdown, seeds)
}

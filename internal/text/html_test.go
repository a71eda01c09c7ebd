package text_test

import (
	"testing"

	"github.com/durabot/durabot/internal/text"
)

var htmlReads = []read{
	{"plain", "plain", nil},
	{"a &lt;b&gt; &amp; &quot;c&quot; &#65;&#x42; &nbsp; &lt", `a <b> & "c" AB &nbsp; <`, nil},
	{"&#0000065; &#00000065; &#0; &#1114111; &#x1f600;", "A &#00000065; &#0; &#1114111; 😀", nil},
	{"<b>a</b><strong>b</strong>", "ab", []text.Span{typed(0, 1, "bold"), typed(1, 1, "bold")}},
	{"<i>a</i><em>b</em>", "ab", []text.Span{typed(0, 1, "italic"), typed(1, 1, "italic")}},
	{"<u>a</u><ins>b</ins>", "ab", []text.Span{typed(0, 1, "underline"), typed(1, 1, "underline")}},
	{"<s>a</s><del>b</del><strike>c</strike>", "abc", []text.Span{
		typed(0, 1, "strikethrough"), typed(1, 1, "strikethrough"), typed(2, 1, "strikethrough"),
	}},
	{`<tg-spoiler>a</tg-spoiler><span class="tg-spoiler">b</span>`, "ab", []text.Span{typed(0, 1, "spoiler"), typed(1, 1, "spoiler")}},
	{"<B>😀<i>x</i>😀</b>", "😀x😀", []text.Span{typed(0, 5, "bold"), typed(2, 1, "italic")}},
	{"<b></b>a", "a", nil},
	{"<code>a</code>", "a", []text.Span{typed(0, 1, "code")}},
	{`<code class="language-go">a</code>`, "a", []text.Span{typed(0, 1, "code")}},
	{"<pre>a\r\nb</pre>", "a\r\nb", []text.Span{typed(0, 4, "pre")}},
	{`<pre><code class="language-go">a</code></pre>`, "a", []text.Span{span(0, 1, `{"language":"go","type":"pre"}`)}},
	{`<code class="language-go"><pre>a</pre></code>`, "a", []text.Span{span(0, 1, `{"language":"go","type":"pre"}`)}},
	{`<pre>x<code class="language-go">a</code></pre>`, "xa", []text.Span{typed(0, 2, "pre"), typed(1, 1, "code")}},
	{"<blockquote>a</blockquote>", "a", []text.Span{typed(0, 1, "blockquote")}},
	{"<blockquote expandable>a</blockquote>", "a", []text.Span{typed(0, 1, "expandable_blockquote")}},
	{`<a href="https://e.org/?a=1&amp;b=2">x</a>`, "x", []text.Span{span(0, 1, `{"type":"text_link","url":"https://e.org/?a=1&b=2"}`)}},
	{`<a href='e.org'>x</a>`, "x", []text.Span{span(0, 1, `{"type":"text_link","url":"e.org"}`)}},
	{`<a>e.org</a>`, "e.org", []text.Span{span(0, 5, `{"type":"text_link","url":"e.org"}`)}},
	{`<a href="localhost">x</a>`, "x", nil},
	{`<a href="javascript:1">x</a>`, "x", nil},
	{`<a href="tg://user?id=42">x</a>`, "x", []text.Span{span(0, 1, `{"type":"text_mention","user":{"id":42}}`)}},
	{`<a href="tg://user?id=0">x</a>`, "x", []text.Span{span(0, 1, `{"type":"text_link","url":"tg://user?id=0"}`)}},
	{`<a href="tg://resolve?domain=x">x</a>`, "x", []text.Span{span(0, 1, `{"type":"text_link","url":"tg://resolve?domain=x"}`)}},
	{`<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`, "👍", []text.Span{
		span(0, 2, `{"custom_emoji_id":"5368324170671202286","type":"custom_emoji"}`),
	}},
	{`<tg-time unix="1647531900" format="wDT">then</tg-time>`, "then", []text.Span{
		span(0, 4, `{"date_time_format":"wDT","type":"date_time","unix_time":1647531900}`),
	}},
}

func TestHTMLIsReadAsTelegramReadsIt(t *testing.T) {
	t.Parallel()
	requireReads(t, text.ParseHTML, htmlReads)
}

func TestAMistakeInHTMLIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	requireRefused(t, text.ParseHTML, map[string]int{
		"a < b":                               2,
		"a <":                                 2,
		"é <b>x":                              3,
		"ab</b>":                              2,
		"<b>a</i>":                            4,
		"<b><i>a</b></i>":                     7,
		"<p>a</p>":                            0,
		"a<br/>":                              1,
		"a<!-- b -->":                         1,
		"a<script>b</script>":                 1,
		"a<b":                                 1,
		"a<b x=":                              1,
		"<b>a</b":                             4,
		"</>":                                 0,
		"<span>a</span>":                      0,
		"<tg-emoji>a</tg-emoji>":              0,
		`<tg-emoji emoji-id="0">a</tg-emoji>`: 0,
		`<tg-emoji emoji-id="x">a</tg-emoji>`: 0,
		`<tg-time unix="0">a</tg-time>`:       0,
		`<tg-time unix="1" format="x">a</tg-time>`:                 0,
		`<b>bold</b> and <a href="https://e.org">never closed</b>`: 52,
	})
}

func FuzzHTML(f *testing.F) {
	seeds := []string{"a < b", "<b>a</i>", "a<b x=", "&#xd800;&#1114111;&#0;", "<plaintext>", "<title>&lt;</title>", "<!--", "<a\x00b>"}
	for _, row := range htmlReads {
		seeds = append(seeds, row.source)
	}
	fuzz(f, text.ParseHTML, seeds)
}

package telegramsim_test

import "testing"

func TestHTMLBecomesEntities(t *testing.T) {
	t.Parallel()
	requireParses(t, "HTML", []parse{
		// The examples of the Bot API docs, "HTML style".
		{"<b>bold</b>, <strong>bold</strong>", "bold, bold | bold 0+4 | bold 6+4"},
		{"<i>italic</i>, <em>italic</em>", "italic, italic | italic 0+6 | italic 8+6"},
		{"<u>underline</u>, <ins>underline</ins>", "underline, underline | underline 0+9 | underline 11+9"},
		{"<s>a</s>, <strike>b</strike>, <del>c</del>", "a, b, c | strikethrough 0+1 | strikethrough 3+1 | strikethrough 6+1"},
		{`<span class="tg-spoiler">a</span>, <tg-spoiler>b</tg-spoiler>`, "a, b | spoiler 0+1 | spoiler 3+1"},
		{
			"<b>bold <i>italic bold <s>italic bold strikethrough <span class=\"tg-spoiler\">italic bold strikethrough spoiler</span></s>" +
				" <u>underline italic bold</u></i> bold</b>",
			"bold italic bold italic bold strikethrough italic bold strikethrough spoiler underline italic bold bold" +
				" | bold 0+103 | italic 5+93 | strikethrough 17+59 | spoiler 43+33 | underline 77+21",
		},
		{`<a href="http://www.example.com/">inline URL</a>`, "inline URL | text_link 0+10 http://www.example.com/"},
		{`<a href="tg://user?id=123456789">mention</a>`, "mention | text_mention 0+7 123456789"},
		{`<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>`, "👍 | custom_emoji 0+2 5368324170671202286"},
		{`<tg-time unix="1647531900" format="wDT">22:45 tomorrow</tg-time>`, "22:45 tomorrow | date_time 0+14 wDT 1647531900"},
		{"<code>inline</code>", "inline | code 0+6"},
		{"<pre>block</pre>", "block | pre 0+5"},
		{`<pre><code class="language-python">block</code></pre>`, "block | pre 0+5 python"},
		{"<blockquote>a\nb</blockquote>", "a\nb | blockquote 0+3"},
		{"<blockquote expandable>a\nb</blockquote>", "a\nb | expandable_blockquote 0+3"},
		// What the docs leave open and TDLib decides.
		{"", ""},
		{"🏟<i>🏟 &lt🏟</i>", "🏟🏟 <🏟 | italic 2+6"},
		{"&lt;&gt;&amp;&quot;&#33;&#x1F600;&nbsp;&lt&ge;&", "<>&\"!😀&nbsp;<&ge;&"},
		{"&#0;&#x110000;&#12345678;&#1234567890;&#XA;&#;", "&#0;&#x110000;&#12345678;&#1234567890;&#XA;&#;"},
		{"&#x000041;&#x0000041;", "A&#x0000041;"},
		{"<b>&#128512;</b>x", "😀x | bold 0+2"},
		{"a > b / c", "a > b / c"},
		{"<tg-emoji emoji-id='x'></tg-emoji>", ""},
		{"<B>x</b >y", "xy | bold 0+1"},
		{"<b>x</>", "x | bold 0+1"},
		{"<b></b><i> </i>", "  | italic 0+1"},
		{"<b title=1 lang = 'x' hidden>x</b>", "x | bold 0+1"},
		{"<a>telegram.org</a>", "telegram.org | text_link 0+12 http://telegram.org/"},
		{"<a>no link</a>", "no link"},
		{"<a href=Telegram.ORG>x</a>", "x | text_link 0+1 http://telegram.org/"},
		{"<a href='t.me?a&lt;b'>x</a>", "x | text_link 0+1 http://t.me/?a<b"},
		{"<a href='ftp://t.me'>x</a>", "x"},
		{"<a href='tg://user?id=0'>x</a>", "x | text_link 0+1 tg://user?id=0"},
		{"<code class='language-go'>x</code>", "x | code 0+1"},
		{"<code class='language-go'><pre>x</pre></code>", "x | pre 0+1 go"},
		{"<pre><code class='language-go'>x</code> </pre>", "x  | pre 0+2 | code 0+1"},
		{"<pre><code>x</code></pre>", "x | pre 0+1 | code 0+1"},
		{"<blockquote expandable=no>a</blockquote>", "a | expandable_blockquote 0+1"},
	})
}

func TestBrokenHTMLIsRefusedInTelegramsWords(t *testing.T) {
	t.Parallel()
	requireParses(t, "HTML", []parse{
		{"a <x>", `error: Unsupported start tag "x" at byte offset 2`},
		{"🏟<Abac aba>", `error: Unsupported start tag "abac" at byte offset 4`},
		{"a<br/>", `error: Unsupported start tag "br/" at byte offset 1`},
		{"1 < 2", `error: Unsupported start tag "" at byte offset 2`},
		{"a<", "error: Unclosed start tag at byte offset 1"},
		{"a<b", "error: Unclosed start tag at byte offset 1"},
		{"<b>a", `error: Can't find end tag corresponding to start tag "b"`},
		{"<b><i>a</i>", `error: Can't find end tag corresponding to start tag "b"`},
		{"<i   =aba>", `error: Empty attribute name in the tag "i" at byte offset 0`},
		{`<i a"b">`, `error: Empty attribute name in the tag "i" at byte offset 0`},
		{"<i ", `error: Empty attribute name in the tag "i" at byte offset 0`},
		{"<i a", `error: Unclosed start tag "i" at byte offset 0`},
		{"<i a  =  ", `error: Unclosed start tag "i" at byte offset 0`},
		{"<i a = aZ-.,", "error: Unexpected end of name token at byte offset 7"},
		{`<i a = "&lt;>`, "error: Unclosed start tag at byte offset 0"},
		{"<i a=b", "error: Unclosed start tag at byte offset 0"},
		{"a</b>", "error: Unexpected end tag at byte offset 1"},
		{"<b></b></", "error: Unexpected end tag at byte offset 7"},
		{"<i>a</i   ", "error: Unclosed end tag at byte offset 4"},
		{"<i>a</em   >", `error: Unmatched end tag at byte offset 4, expected "</i>", found "</em>"`},
		{"<b><i>a</b></i>", `error: Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`},
		{"<span>a</span>", `error: Tag "span" must have class "tg-spoiler" at byte offset 0`},
		{"<tg-emoji emoji-id='x'>a</tg-emoji>", "error: Invalid custom emoji identifier specified"},
		{"<tg-emoji emoji-id='025'>a</tg-emoji>", "error: Invalid custom emoji identifier specified"},
		{"<tg-time unix='x'>a</tg-time>", "error: Invalid date specified"},
		{"&#xDFDF;", "error: Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units"},
	})
}

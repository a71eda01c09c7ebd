package durabot_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
)

func TestEscapedTextStandsForItselfInBothModes(t *testing.T) {
	t.Parallel()
	require.Equal(t, `a &lt; b &amp;&amp; c &gt; &quot;d&quot;`, durabot.EscapeHTML(`a < b && c > "d"`))
	require.Equal(t, "1\\. a\\_b \\(c\\) \\\\ \\`d\\`", durabot.EscapeMarkdown("1. a_b (c) \\ `d`"))
	require.Equal(t, "Zażółć, 日本", durabot.EscapeMarkdown(durabot.EscapeHTML("Zażółć, 日本")))
}

func ExampleEscapeHTML() {
	name := "<Tom & Jerry>"
	fmt.Println("<b>" + durabot.EscapeHTML(name) + "</b> says hello")
	// Output: <b>&lt;Tom &amp; Jerry&gt;</b> says hello
}

func ExampleEscapeMarkdown() {
	price := "9.99 (incl. tax)"
	fmt.Println("*Price:* " + durabot.EscapeMarkdown(price))
	// Output: *Price:* 9\.99 \(incl\. tax\)
}

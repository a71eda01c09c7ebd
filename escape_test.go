package durabot_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot"
	"github.com/durabot/durabot/internal/telegramsim"
)

func TestEscapedTextStandsForItselfInBothModes(t *testing.T) {
	t.Parallel()
	require.Equal(t, `a &lt; b &amp;&amp; c &gt; &quot;d&quot;`, durabot.EscapeHTML(`a < b && c > "d"`))
	require.Equal(t, "1\\. a\\_b \\(c\\) \\\\ \\`d\\`", durabot.EscapeMarkdown("1. a_b (c) \\ `d`"))
	require.Equal(t, "Zażółć, 日本", durabot.EscapeMarkdown(durabot.EscapeHTML("Zażółć, 日本")))
}

// alphabet is every character that one of the modes gives a meaning, and some that
// none does.
var alphabet = []rune("_*[]()~`>#+-=|{}.!\\<&\"'/;amplt0 \n\u00e9\u8a9e\U0001F600")

func TestWhateverIsEscapedTelegramTakesAndShowsAsItWas(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same strings each time
	for range 10_000 {
		said := make([]rune, 1+chance.IntN(30))
		for i := range said {
			said[i] = alphabet[chance.IntN(len(alphabet))]
		}
		for mode, escaped := range map[string]string{
			"HTML": durabot.EscapeHTML(string(said)), "MarkdownV2": durabot.EscapeMarkdown(string(said)),
		} {
			shown, err := telegramsim.ParseText(escaped, mode)
			require.NoError(t, err, "%s: %q", mode, escaped)
			require.Equal(t, string(said), shown.Text, "%s: %q", mode, escaped)
			require.Empty(t, shown.Entities, "%s: %q", mode, escaped)
		}
	}
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

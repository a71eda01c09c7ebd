package text

import "strings"

// reserved are the characters that mean something in MarkdownV2.
const reserved = "_*[]()~`>#+-=|{}.!"

var (
	htmlEscapes     = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
	markdownEscapes = newMarkdownEscapes()
)

func newMarkdownEscapes() *strings.Replacer {
	pairs := []string{`\`, `\\`}
	for _, c := range reserved {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}

// EscapeHTML returns s as it stands for itself in a text, or in a quoted
// attribute, of parse_mode HTML. Escaping twice shows the escapes.
func EscapeHTML(s string) string { return htmlEscapes.Replace(s) }

// EscapeMarkdown returns s as it stands for itself in parse_mode MarkdownV2,
// everywhere in it: in text, code and addresses of links. Escaping twice shows the
// escapes.
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

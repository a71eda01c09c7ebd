package durabot

import "github.com/durabot/durabot/internal/text"

// EscapeHTML makes s stand for itself in a text of parse_mode HTML, or in a quoted
// attribute of one of its tags. What a user wrote goes through it before it is put
// among markup; escaped twice it shows its escapes.
func EscapeHTML(s string) string { return text.EscapeHTML(s) }

// EscapeMarkdown makes s stand for itself in a text of parse_mode MarkdownV2,
// everywhere in it: among words, in code and in the address of a link. Escaped
// twice it shows its escapes. It is not for the old "Markdown".
func EscapeMarkdown(s string) string { return text.EscapeMarkdown(s) }

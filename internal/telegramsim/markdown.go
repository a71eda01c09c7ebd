package telegramsim

import (
	"fmt"
	"strings"
)

// notations are the marks of MarkdownV2, longer ones in front of those they begin
// with. Kind is TDLib's name, which is in the errors.
var notations = []struct{ kind, open, close string }{
	{"Pre", "```", "```"},
	{"Code", "`", "`"},
	{"Underline", "__", "__"},
	{"Italic", "_", "_"},
	{"Bold", "*", "*"},
	{"Strikethrough", "~", "~"},
	{"Spoiler", "||", "||"},
	{"TextUrl", "[", "]"},
	{"CustomEmoji", "![", "]"},
}

// kindTypes are the Bot API's types of TDLib's kinds, where the mark alone decides.
var kindTypes = map[string]string{
	"Pre": "pre", "PreCode": "pre", "Code": "code", "Underline": "underline", "Italic": "italic", "Bold": "bold",
	"Strikethrough": "strikethrough", "Spoiler": "spoiler",
	"BlockQuote": "blockquote", "ExpandableBlockQuote": "expandable_blockquote",
}

// opening is a mark that waits for its end.
type opening struct {
	kind     string
	close    string
	language string // of a PreCode
	offset   int    // in UTF-16 units of the text
	start    int    // in bytes of the text
	at       int    // in bytes of the markup
}

// markdownReader reads parse_mode MarkdownV2.
type markdownReader struct {
	reader
	open []opening
	// quoted says that a block quotation is open, perhaps around or inside others.
	quoted bool
	// fresh says that nothing visible came since the line began, so that ">" quotes.
	fresh bool
}

func parseMarkdown(src string) (Formatted, error) {
	m := &markdownReader{reader: reader{src: src}, fresh: true}
	for !m.done() {
		if err := m.step(); err != nil {
			return Formatted{}, err
		}
	}
	if m.quoted {
		m.endQuotation()
	}
	if len(m.open) > 0 {
		return Formatted{}, m.unclosed()
	}
	return m.formatted(), nil
}

func (m *markdownReader) step() error {
	c := m.at(0)
	switch {
	case c == '\\' && m.escapes():
		m.pos++
		m.plain(m.at(0) == '\n')
	case !m.reserved(c):
		m.plain(false)
	case m.quoted && c == '\n' && m.at(1) != '>':
		return m.endLine()
	case m.closes():
		return m.end()
	default:
		return m.begin()
	}
	return nil
}

// escapes says whether the backslash ahead takes the meaning of what follows: an ASCII
// character. In front of any other it stands for itself.
func (m *markdownReader) escapes() bool { return m.at(1) > 0 && m.at(1) <= 126 }

func (m *markdownReader) plain(newLine bool) {
	if m.at(0) != '\r' {
		m.fresh = newLine
	}
	m.keep()
}

// reserved characters have a meaning or are refused; inside code only "`" is one.
func (m *markdownReader) reserved(c byte) bool {
	if len(m.open) > 0 && strings.HasSuffix(m.top().close, "`") {
		return c == '`'
	}
	return strings.IndexByte("_*[]()~`>#+-=|{}.!\n", c) >= 0
}

func (m *markdownReader) top() *opening { return &m.open[len(m.open)-1] }

// closes says whether the innermost mark ends here. Of "___" the underline ends first,
// so that an italic one around it can end.
func (m *markdownReader) closes() bool {
	if len(m.open) == 0 || m.top().close == "" {
		return false
	}
	if m.top().kind == "Italic" && m.at(1) == '_' {
		return false
	}
	return m.ahead(m.top().close)
}

func (m *markdownReader) begin() error {
	switch c := m.at(0); {
	case c == '\n':
		m.keep()
		m.fresh = true
		return nil
	case c == '>' && m.fresh:
		m.beginQuotation()
		return nil
	}
	for _, n := range notations {
		if m.ahead(n.open) {
			m.push(n.kind, n.open, n.close)
			return nil
		}
	}
	return refusal(fmt.Sprintf(`Character '%c' is reserved and must be escaped with the preceding '\'`, m.at(0)))
}

// push opens a mark. Behind "```" its language is read.
func (m *markdownReader) push(kind, open, closing string) {
	o := opening{kind: kind, close: closing, offset: m.units, start: len(m.out), at: m.pos}
	m.pos += len(open)
	if kind == "Pre" {
		if o.language = m.fence(); o.language != "" {
			o.kind = "PreCode"
		}
	}
	m.open = append(m.open, o)
}

func (m *markdownReader) pop() opening {
	o := *m.top()
	m.open = m.open[:len(m.open)-1]
	return o
}

func (m *markdownReader) unclosed() error {
	return refusal(fmt.Sprintf("Can't find end of %s entity at byte offset %d", m.top().kind, m.top().at))
}

package text

import (
	"strings"
	"unicode/utf8"
)

// markdown reads MarkdownV2 as Telegram does, which writes its own rules: a line
// end closes a block quotation, and a lone || before it makes that expandable.
type markdown struct {
	builder

	source string
	at     int
	quote  bool // inside a block quotation
	fresh  bool // at a place where a block quotation may begin
}

// parseMarkdown reads a text of parse_mode MarkdownV2.
func parseMarkdown(source string) (formatted, error) {
	m := &markdown{source: source, fresh: true}
	for m.at < len(source) {
		if err := m.step(); err != nil {
			return formatted{}, err
		}
	}
	if m.quote {
		m.expand(len(source))
		if top := m.top(); top != nil && top.name == quotation {
			o := m.end()
			m.add(o, o.attributes)
		}
	}
	return m.result()
}

func (m *markdown) rest() string { return m.source[m.at:] }

// step reads one character or one mark.
func (m *markdown) step() error {
	rest := m.rest()
	switch {
	case rest[0] == '\\' && len(rest) > 1 && rest[1] > 0 && rest[1] <= 126:
		m.character(rest[1:2], 2)
		return nil
	case m.plain(rest[0]):
		_, size := utf8.DecodeRuneInString(rest)
		m.character(rest[:size], size)
		return nil
	case m.ends(rest):
		return m.close()
	default:
		return m.start(rest)
	}
}

// character writes c, which takes some bytes of the source.
func (m *markdown) character(c string, size int) {
	m.write(c)
	m.at += size
	if c != "\r" {
		m.fresh = c == "\n" && size > 1 // as Telegram has it: an escaped line end, but not one in code
	}
}

// plain reports whether a byte means nothing here.
func (m *markdown) plain(c byte) bool {
	if top := m.top(); top != nil && (top.name == "code" || top.name == "pre") {
		return c != '`'
	}
	return c != '\n' && strings.IndexByte(reserved, c) < 0
}

// ends reports whether the innermost entity ends here.
func (m *markdown) ends(rest string) bool {
	top := m.top()
	switch {
	case top == nil:
		return false
	case m.quote && rest[0] == '\n' && !strings.HasPrefix(rest[1:], ">"):
		return true
	case top.name == "italic" && strings.HasPrefix(rest, "__"):
		return false
	}
	closes := closing(top.name)
	return closes != "" && strings.HasPrefix(rest, closes)
}

func (m *markdown) start(rest string) error {
	switch {
	case rest[0] == '\n':
		m.write("\n")
		m.at, m.fresh = m.at+1, true
		return nil
	case rest[0] == '>' && m.fresh:
		if !m.quote {
			m.begin(quotation, m.at, kind(quotation))
		}
		m.at, m.quote = m.at+1, true
		return nil
	}
	for _, mark := range marks {
		if strings.HasPrefix(rest, mark.opens) {
			m.begin(mark.kind, m.at, kind(mark.kind))
			m.at += len(mark.opens)
			if mark.kind == "pre" {
				m.language()
			}
			return nil
		}
	}
	return &MarkupError{What: "a reserved character is not escaped", At: m.at}
}

// language reads what stands behind the mark of a block of code, and skips one
// line end.
func (m *markdown) language() {
	rest := m.rest()
	if end := strings.IndexAny(rest, " \t\n\r\v\f\x00`"); end > 0 && rest[end] != '`' {
		m.top().attributes["language"] = encoded(rest[:end])
		m.at += end
	}
	for _, lineEnd := range []string{"\r\n", "\n\r", "\n", "\r"} {
		if strings.HasPrefix(m.rest(), lineEnd) {
			m.at += len(lineEnd)
			return
		}
	}
}

// close ends the innermost entity at its mark, or a block quotation at a line end.
func (m *markdown) close() error {
	if m.source[m.at] == '\n' {
		return m.closeQuotation()
	}
	o := m.end()
	m.at += len(closing(o.name))
	a := o.attributes
	switch o.name {
	case "text_link":
		address, given, err := m.address()
		if err != nil {
			return err
		}
		if !given {
			address = m.inner(o)
		}
		a = link(address)
	case "custom_emoji":
		address, _, err := m.address()
		if err != nil {
			return err
		}
		if a = special(address); a == nil {
			return &MarkupError{What: "the address is of no custom emoji and of no time", At: o.source}
		}
	}
	m.add(o, a)
	return nil
}

func (m *markdown) closeQuotation() error {
	m.expand(len(strings.TrimSuffix(m.source[:m.at], "\r")))
	o := m.end()
	if o.name != quotation {
		return &MarkupError{What: "an entity has no end in its block quotation", At: o.source}
	}
	m.write("\n")
	m.at, m.quote, m.fresh = m.at+1, false, true
	m.add(o, o.attributes)
	return nil
}

// expand makes the block quotation expandable if all that stands open in it is a
// spoiler that has just begun, whose mark ends at a place in the source.
func (m *markdown) expand(end int) {
	if n := len(m.open); n > 1 && m.open[n-1].name == "spoiler" && m.open[n-1].source == end-2 && m.open[n-2].name == quotation {
		m.end()
		m.top().attributes = kind("expandable_blockquote")
	}
}

// address reads what stands in parentheses here, false if there are none.
func (m *markdown) address() (string, bool, error) {
	if !strings.HasPrefix(m.rest(), "(") {
		return "", false, nil
	}
	var address strings.Builder
	for i := m.at + 1; i < len(m.source); i++ {
		c := m.source[i]
		if c == ')' {
			m.at = i + 1
			return address.String(), true, nil
		}
		if next := i + 1; c == '\\' && next < len(m.source) && m.source[next] > 0 && m.source[next] <= 126 {
			i, c = next, m.source[next]
		}
		address.WriteByte(c)
	}
	return "", false, &MarkupError{What: "an address has no end", At: m.at + 1}
}

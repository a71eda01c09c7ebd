package telegramsim

import "fmt"

// end closes the innermost mark.
func (m *markdownReader) end() error {
	o := m.pop()
	m.pos += len(o.close)
	switch o.kind {
	case "TextUrl":
		return m.endLink(o)
	case "CustomEmoji":
		return m.endEmbedded(o)
	}
	m.mark(Entity{Type: kindTypes[o.kind], Language: o.language}, o.offset)
	return nil
}

// endLink takes the text for the address when none follows.
func (m *markdownReader) endLink(o opening) error {
	link := string(m.out[o.start:])
	if m.at(0) == '(' {
		var err error
		if link, err = m.address("a URL"); err != nil {
			return err
		}
	}
	if e, isLink := linked(link); isLink {
		m.mark(e, o.offset)
	}
	return nil
}

func (m *markdownReader) endEmbedded(o opening) error {
	if m.at(0) != '(' {
		return refusal("Custom emoji entity must contain a tg://emoji URL")
	}
	link, err := m.address("a custom emoji URL")
	if err != nil {
		return err
	}
	e, err := embedded(link)
	if err != nil {
		return err
	}
	m.mark(e, o.offset)
	return nil
}

// address is what stands in the parentheses ahead.
func (m *markdownReader) address(what string) (string, error) {
	m.pos++
	begin := m.pos
	var link []byte
	for ; !m.done() && m.at(0) != ')'; m.pos++ {
		if m.at(0) == '\\' && m.escapes() {
			m.pos++
		}
		link = append(link, m.at(0))
	}
	if m.done() {
		return "", refusal(fmt.Sprintf("Can't find end of %s at byte offset %d", what, begin))
	}
	m.pos++
	return string(link), nil
}

// beginQuotation opens a block quotation, or goes on with the one that is open.
func (m *markdownReader) beginQuotation() {
	if m.quoted {
		m.pos++
		return
	}
	m.quoted = true
	m.push("BlockQuote", ">", "")
}

// endLine ends a block quotation with the line: every mark inside it must be closed.
// A spoiler that was opened by the last "||" of the line is none, it makes the
// quotation expandable.
func (m *markdownReader) endLine() error {
	kind := m.quotation()
	if m.top().kind != "BlockQuote" {
		return m.unclosed()
	}
	m.keep()
	m.quoted, m.fresh = false, true
	m.mark(Entity{Type: kindTypes[kind]}, m.pop().offset)
	return nil
}

// endQuotation ends a block quotation with the text. Marks inside it stay open.
func (m *markdownReader) endQuotation() {
	if kind := m.quotation(); m.top().kind == "BlockQuote" {
		m.mark(Entity{Type: kindTypes[kind]}, m.pop().offset)
	}
}

// quotation is the kind of the block quotation that would end here. The mark of an
// expandable one is taken away.
func (m *markdownReader) quotation() string {
	if m.top().kind != "Spoiler" || m.top().at != m.lineEnd()-len("||") {
		return "BlockQuote"
	}
	m.pop()
	return "ExpandableBlockQuote"
}

// lineEnd is where the line before here ends, its "\r" left out.
func (m *markdownReader) lineEnd() int {
	if !m.done() && m.pos > 0 && m.src[m.pos-1] == '\r' {
		return m.pos - 1
	}
	return m.pos
}

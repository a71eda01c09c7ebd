package telegramsim

import "fmt"

// parseLegacy reads parse_mode Markdown, in which nothing can be inside of anything
// and nothing can be escaped inside of a mark.
func parseLegacy(src string) (Formatted, error) {
	l := &legacyReader{reader{src: src}}
	for !l.done() {
		switch c := l.at(0); {
		case c == '\\' && isLegacy(l.at(1)):
			l.pos++
			l.keep()
		case !isLegacy(c):
			l.keep()
		default:
			if err := l.mark(); err != nil {
				return Formatted{}, err
			}
		}
	}
	return l.formatted(), nil
}

func isLegacy(c byte) bool { return c == '_' || c == '*' || c == '`' || c == '[' }

type legacyReader struct{ reader }

// legacyTypes are the entities of the marks. A link has its address first.
var legacyTypes = map[string]string{"_": "italic", "*": "bold", "`": "code", "```": "pre", "[": "text_link"}

// mark reads from the beginning of a mark to its end.
func (l *legacyReader) mark() error {
	begin, offset := l.pos, l.units
	open := string(l.at(0))
	if l.ahead("```") {
		open = "```"
	}
	l.pos += len(open)
	e := Entity{Type: legacyTypes[open]}
	closing := open
	switch open {
	case "[":
		closing = "]"
	case "```":
		e.Language = l.fence()
	}
	start := len(l.out)
	for !l.done() && !l.ahead(closing) {
		l.keep()
	}
	if l.done() {
		return refusal(fmt.Sprintf("Can't find end of the entity starting at byte offset %d", begin))
	}
	l.pos += len(closing)
	if open != "[" {
		l.reader.mark(e, offset)
	} else if l.units > offset {
		l.link(string(l.out[start:]), offset)
	}
	return nil
}

// link reads the address behind a link's text, or takes the text for it. An address
// may end with the message. Behind an empty text it is no address.
func (l *legacyReader) link(text string, offset int) {
	address := text
	if l.at(0) == '(' {
		l.pos++
		address = l.until(")")
		l.pos = min(l.pos+1, len(l.src))
	}
	if e, isLink := linked(address); isLink {
		l.reader.mark(e, offset)
	}
}

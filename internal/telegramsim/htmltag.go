package telegramsim

import (
	"fmt"
	"strings"
)

// startTag reads a start tag with its attributes.
func (h *htmlReader) startTag() error {
	begin := h.pos
	h.pos++
	name := lower(h.until(spaces + ">"))
	if h.at(0) == 0 {
		return refusal(fmt.Sprintf("Unclosed start tag at byte offset %d", begin))
	}
	if _, known := tagTypes[name]; !known {
		return refusal(fmt.Sprintf("Unsupported start tag \"%s\" at byte offset %d", name, begin))
	}
	t := tag{name: name, attributes: map[string]string{}, offset: h.units, start: len(h.out)}
	for h.skip(" \t\r\n\v"); h.at(0) != '>'; h.skip(" \t\r\n\v") {
		if err := h.attribute(t, begin); err != nil {
			return err
		}
	}
	h.pos++
	if name == "span" && t.attributes["class"] != "tg-spoiler" {
		return refusal(fmt.Sprintf(`Tag "span" must have class "tg-spoiler" at byte offset %d`, begin))
	}
	h.open = append(h.open, t)
	return nil
}

// attribute reads one attribute of a tag that begins at begin. Its value may be
// missing.
func (h *htmlReader) attribute(t tag, begin int) error {
	name := h.until(spaces + `=>/"'`)
	if name == "" {
		return refusal(fmt.Sprintf(`Empty attribute name in the tag "%s" at byte offset %d`, t.name, begin))
	}
	h.skip(" \t\r\n\v")
	unclosed := refusal(fmt.Sprintf(`Unclosed start tag "%s" at byte offset %d`, t.name, begin))
	switch h.at(0) {
	case 0:
		return unclosed
	case '=':
		h.pos++
	default:
		t.attributes[name] = ""
		return nil
	}
	h.skip(" \t\r\n\v")
	if h.at(0) == 0 {
		return unclosed
	}
	value, err := h.value()
	if err != nil {
		return err
	}
	if h.at(0) == 0 {
		return refusal(fmt.Sprintf("Unclosed start tag at byte offset %d", begin))
	}
	t.attributes[name] = value
	return nil
}

// value is the value of an attribute: in quotes, where references are decoded, or a
// word of letters, digits, dots and hyphens, whose case does not matter.
func (h *htmlReader) value() (string, error) {
	quote := h.at(0)
	if quote == '\'' || quote == '"' {
		h.pos++
		raw := h.until(string(quote) + "\x00")
		if h.at(0) == quote {
			h.pos++
		}
		return decoded(raw), nil
	}
	begin := h.pos
	for isNameByte(h.at(0)) {
		h.pos++
	}
	if strings.IndexByte(spaces+">", h.at(0)) < 0 {
		return "", refusal(fmt.Sprintf("Unexpected end of name token at byte offset %d", begin))
	}
	return lower(h.src[begin:h.pos]), nil
}

func isNameByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '-'
}

// lower changes ASCII letters only: a letter of another script that has one of them as
// its small form makes no tag.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

package telegramsim

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// tagTypes are the entities of tags that need no attribute. The empty ones depend on
// their attributes.
var tagTypes = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler",
	"code": "code", "pre": "pre", "blockquote": "blockquote", "a": "", "tg-emoji": "", "tg-time": "",
}

// tag is a start tag that waits for its end.
type tag struct {
	name       string
	attributes map[string]string
	offset     int // in UTF-16 units of the text
	start      int // in bytes of the text
}

// htmlReader reads parse_mode HTML.
type htmlReader struct {
	reader
	open []tag
	torn bool // a reference named half of a surrogate pair
}

func parseHTML(src string) (Formatted, error) {
	h := &htmlReader{reader: reader{src: src}}
	for !h.done() {
		if err := h.step(); err != nil {
			return Formatted{}, err
		}
	}
	if len(h.open) > 0 {
		return Formatted{}, refusal(fmt.Sprintf("Can't find end tag corresponding to start tag %q", h.open[len(h.open)-1].name))
	}
	if h.torn {
		return Formatted{}, refusal("Text contains invalid Unicode characters after decoding HTML entities, " +
			"check for unmatched surrogate code units")
	}
	for i, e := range h.entities {
		if e.Type == "code" { // it had a language only for the sake of a pre around it
			h.entities[i].Language = ""
		}
	}
	return h.formatted(), nil
}

func (h *htmlReader) step() error {
	switch {
	case h.ahead("</"):
		return h.endTag()
	case h.at(0) == '<':
		return h.startTag()
	}
	r, size := reference(h.src[h.pos:])
	if size == 0 {
		h.keep()
		return nil
	}
	h.pos += size
	h.torn = h.torn || utf16.IsSurrogate(r)
	h.out = utf8.AppendRune(h.out, r)
	h.units += max(utf16.RuneLen(r), 1)
	return nil
}

func (h *htmlReader) endTag() error {
	begin := h.pos
	if len(h.open) == 0 {
		return refusal(fmt.Sprintf("Unexpected end tag at byte offset %d", begin))
	}
	h.pos += len("</")
	name := lower(h.until(spaces + ">"))
	h.skip(" \t\r\n\v")
	if h.at(0) != '>' {
		return refusal(fmt.Sprintf("Unclosed end tag at byte offset %d", begin))
	}
	h.pos++
	t := h.open[len(h.open)-1]
	if name != "" && name != t.name {
		return refusal(fmt.Sprintf(`Unmatched end tag at byte offset %d, expected "</%s>", found "</%s>"`, begin, t.name, name))
	}
	h.open = h.open[:len(h.open)-1]
	if h.units == t.offset {
		return nil
	}
	return h.close(t)
}

// close adds the entity of a tag that has something inside.
func (h *htmlReader) close(t tag) error {
	e := Entity{Type: tagTypes[t.name]}
	switch t.name {
	case "a":
		h.closeLink(t)
		return nil
	case "pre", "code":
		h.closeCode(t)
		return nil
	case "blockquote":
		if _, expandable := t.attributes["expandable"]; expandable {
			e.Type = "expandable_blockquote"
		}
	case "tg-emoji":
		var err error
		if e, err = customEmoji(t.attributes["emoji-id"]); err != nil {
			return err
		}
	case "tg-time":
		var err error
		if e, err = dateTime(t.attributes["unix"], t.attributes["format"]); err != nil {
			return err
		}
	}
	h.mark(e, t.offset)
	return nil
}

// closeLink takes the text for the address when there is none.
func (h *htmlReader) closeLink(t tag) {
	if e, isLink := linked(cmp.Or(t.attributes["href"], string(h.out[t.start:]))); isLink {
		h.mark(e, t.offset)
	}
}

// closeCode makes one pre of code with a language and the pre that holds just it, or
// the other way round.
func (h *htmlReader) closeCode(t tag) {
	e := Entity{Type: t.name}
	if language, found := strings.CutPrefix(t.attributes["class"], "language-"); found && t.name == "code" {
		e.Language = language
	}
	inner := &Entity{}
	if len(h.entities) > 0 {
		inner = &h.entities[len(h.entities)-1]
	}
	switch whole := inner.Offset == t.offset && inner.Offset+inner.Length == h.units; {
	case whole && t.name == "code" && inner.Type == "pre" && e.Language != "":
		inner.Language = e.Language
	case whole && t.name == "pre" && inner.Type == "code" && inner.Language != "":
		inner.Type = "pre"
	default:
		h.mark(e, t.offset)
	}
}

package telegramsim

import (
	"errors"
	"strings"
)

// Formatted is a text without markup and what lies on it.
type Formatted struct {
	Text     string
	Entities []Entity // outer ones in front of those inside them
}

// refusal is why markup cannot be read, in Telegram's words.
type refusal string

func (r refusal) Error() string { return "can't parse entities: " + string(r) }

// ParseText reads markup as Telegram does (tdlib/td, MessageEntity.cpp): mode is a
// parse_mode in any case, and "" or "none" takes the text as it is. An error is in
// Telegram's words, without "Bad Request: "; offsets in it are in bytes of the text.
// Length is no matter. A test may hold what a bot sent against it.
//
// Entities are as written: Telegram also finds links and mentions by itself, trims
// the text, splits entities that overlap and drops styles inside code, none of which
// is done here.
func ParseText(text, mode string) (Formatted, error) {
	switch strings.ToLower(mode) {
	case "", "none":
		return Formatted{Text: text}, nil
	case "html":
		return parseHTML(text)
	case "markdownv2":
		return parseMarkdown(text)
	case "markdown":
		return parseLegacy(text)
	}
	return Formatted{}, errors.New("unsupported parse_mode")
}

// spaces end a word of markup. The end of the text does as well.
const spaces = " \t\r\n\v\x00"

// reader walks over a text with markup and gathers the one without.
type reader struct {
	src      string
	pos      int // in bytes
	out      []byte
	units    int // of out, in UTF-16
	entities []Entity
}

// at looks at the byte n behind the next one; 0 behind the end.
func (r *reader) at(n int) byte {
	if r.pos+n >= len(r.src) {
		return 0
	}
	return r.src[r.pos+n]
}

func (r *reader) done() bool { return r.pos >= len(r.src) }

func (r *reader) ahead(mark string) bool { return strings.HasPrefix(r.src[r.pos:], mark) }

// until takes what comes before any of the stops, or before the end.
func (r *reader) until(stops string) string {
	start := r.pos
	for !r.done() && strings.IndexByte(stops, r.at(0)) < 0 {
		r.pos++
	}
	return r.src[start:r.pos]
}

// skip takes all that is one of the given bytes.
func (r *reader) skip(chars string) string {
	start := r.pos
	for !r.done() && strings.IndexByte(chars, r.at(0)) >= 0 {
		r.pos++
	}
	return r.src[start:r.pos]
}

// keep moves one byte to the text.
func (r *reader) keep() {
	c := r.at(0)
	r.pos++
	r.out = append(r.out, c)
	switch { // the first byte of a code point stands for all of it
	case c >= 0xf0:
		r.units += 2
	case c < 0x80 || c >= 0xc0:
		r.units++
	}
}

// mark adds an entity from offset to here. An empty one is none.
func (r *reader) mark(e Entity, offset int) {
	if r.units > offset {
		e.Offset, e.Length = offset, r.units-offset
		r.entities = append(r.entities, e)
	}
}

// fence is the language behind "```", and the one line break after it. A word that
// the block ends with is no language.
func (r *reader) fence() string {
	start := r.pos
	language := r.until(spaces + "`")
	if r.done() || r.at(0) == '`' {
		language, r.pos = "", start
	}
	first, second := r.at(0), r.at(1)
	if first == '\n' || first == '\r' {
		r.pos++
		if (second == '\n' || second == '\r') && second != first {
			r.pos++
		}
	}
	return language
}

// formatted is what was gathered.
func (r *reader) formatted() Formatted {
	sortEntities(r.entities)
	return Formatted{Text: string(r.out), Entities: r.entities}
}

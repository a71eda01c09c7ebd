package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"
)

// params are the parameters of a call, each as it was written.
type params map[string]json.RawMessage

// readParams reads a call's parameters.
func readParams(raw json.RawMessage) (params, error) {
	var p params
	if json.Unmarshal(raw, &p) != nil {
		return nil, errors.New("the parameters are no JSON object")
	}
	return p, nil
}

// field is where a method has its text, and how many code points of it Telegram
// takes.
type field struct {
	name, entities string
	limit          int
}

var (
	textField    = field{"text", "entities", 4096}
	captionField = field{"caption", "caption_entities", 1024}
)

// mostBytes is how long a text may be before its markup is read.
const mostBytes = 1 << 15

// message is a text with what says how to read it.
type message struct {
	field

	source   string
	mode     string // lower case, "" for none
	entities json.RawMessage
}

// read finds the text, false if there is none.
func (f field) read(p params) (message, bool, error) {
	m := message{field: f, entities: p[f.entities]}
	raw := p[f.name]
	if json.Unmarshal(raw, &m.source) != nil {
		return m, false, nil // no string: Telegram may know what it is
	}
	if !valid(raw) {
		return m, false, ErrUTF8
	}
	_ = json.Unmarshal(p["parse_mode"], &m.mode) // as above
	if m.mode = strings.ToLower(m.mode); m.mode == "none" {
		m.mode = ""
	}
	return m, true, nil
}

// surrogates finds the escapes of a JSON string, and in group 1 those that are half
// of a pair whose other half is missing.
var surrogates = regexp.MustCompile(`\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]|(u[dD][89a-fA-F])|.)`)

// valid reports whether a JSON string is all characters: encoding/json puts U+FFFD
// in place of what is none.
func valid(raw json.RawMessage) bool {
	for _, found := range surrogates.FindAllSubmatchIndex(raw, -1) {
		if found[2] >= 0 {
			return false
		}
	}
	return utf8.Valid(raw)
}

// takes reports whether Telegram takes the source when this is the text in it.
// Markup only shortens a text: if the source fits, so does what is in it.
func (m message) takes(text string) bool {
	return len(m.source) <= mostBytes && utf8.RuneCountInString(text) <= m.limit
}

// whole is an error for a text that must be one message and is too long.
func (m message) whole() error {
	if m.takes(m.source) {
		return nil
	}
	f, err := m.parse()
	if err == nil && !m.takes(f.text) {
		err = fmt.Errorf("%w: here a %s has %d characters at most", ErrWhole, m.name, m.limit)
	}
	return err
}

// parse reads the markup. A parse_mode wins over entities, as with Telegram.
func (m message) parse() (formatted, error) {
	switch m.mode {
	case "html":
		return parseHTML(m.source)
	case "markdownv2":
		return parseMarkdown(m.source)
	case "":
		entities, err := readEntities(m.entities)
		return formatted{text: m.source, entities: entities}, err
	default:
		return formatted{}, fmt.Errorf("%w: its parse_mode is neither HTML nor MarkdownV2", ErrWhole)
	}
}

// put is p with another text, whose entities need no parse_mode.
func (f field) put(p params, text formatted) params {
	p = maps.Clone(p)
	delete(p, "parse_mode")
	delete(p, f.entities)
	p[f.name] = encoded(text.text)
	if len(text.entities) == 0 {
		return p
	}
	list := make([]attributes, len(text.entities))
	for i, e := range text.entities {
		list[i] = e.fields()
	}
	p[f.entities] = encoded(list)
	return p
}

package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"text/template"
)

// modes are the values of one object's parameters that say how others are parsed.
type modes map[string]string

const modeSuffix = "parse_mode"

// of is the parse_mode of a parameter, in lower case; "" for none. A poll's question
// has its own, question_parse_mode.
func (m modes) of(key string) string {
	mode, own := m[key+"_"+modeSuffix]
	if !own && (key == textField.name || key == captionField.name) {
		mode = m[modeSuffix]
	}
	return strings.ToLower(mode)
}

// spot is a string with a template in it.
type spot struct {
	path, key  string
	source     string
	start, end int64 // of the string with its quotes
	modes      modes // of its object
}

// compile makes the template, which escapes what it prints.
func (s spot) compile() (*template.Template, error) {
	escape, escaped := escapes[s.modes.of(s.key)]
	t, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{escaper: printed(escape)}).Parse(s.source)
	if err != nil {
		return nil, unread(err)
	}
	if escaped {
		for _, part := range t.Templates() {
			escapeNode(part.Root)
		}
	}
	return t, nil
}

// scanner finds the strings with a template in them.
type scanner struct {
	raw   json.RawMessage
	dec   *json.Decoder
	found []spot
}

// newScanner reads valid JSON.
func newScanner(raw json.RawMessage) *scanner {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return &scanner{raw: raw, dec: dec}
}

// value reads one value. Key is its parameter's, and m its object's modes; a value
// in a list has neither.
func (s *scanner) value(path, key string, m modes) error {
	start := s.dec.InputOffset()
	token, err := s.dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return s.all(v == '{', path)
	case string:
		return s.text(spot{path: path, key: key, source: v, start: start, end: s.dec.InputOffset(), modes: m})
	}
	return nil
}

// all reads the values of an object or a list.
func (s *scanner) all(object bool, path string) error {
	m, name := modes{}, ""
	for n := 0; s.dec.More(); n++ {
		if object {
			key, err := s.dec.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		step := name
		if !object {
			step = strconv.Itoa(n)
		}
		if path != "" {
			step = path + "." + step
		}
		if err := s.value(step, name, m); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

// text notes a string if a template is in it.
func (s *scanner) text(found spot) error {
	isMode := strings.HasSuffix(found.key, modeSuffix)
	if isMode {
		found.modes[found.key] = found.source
	}
	if !strings.Contains(found.source, "{{") {
		return nil
	}
	found.start += int64(bytes.IndexByte(s.raw[found.start:], '"'))
	switch {
	case isMode:
		return errors.New(found.path + ": it must be the same for all, so no template can be in it")
	case !valid(s.raw[found.start:found.end]):
		return errors.New(found.path + ": " + ErrUTF8.Error())
	case packed(found):
		return errors.New(found.path + ": here JSON is in a string, in which a field could become more than text: write it without the quotes")
	}
	s.found = append(s.found, found)
	return nil
}

// packed reports whether a string holds an object or a list that Telegram reads, as
// it does where one is wanted.
func packed(found spot) bool {
	if found.key == textField.name || found.key == captionField.name {
		return false
	}
	trimmed := strings.TrimSpace(found.source)
	return trimmed != "" && strings.ContainsAny(trimmed[:1], "{[") && json.Valid([]byte(trimmed))
}

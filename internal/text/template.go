package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"text/template"
)

// Template is the parameters of a call with places such as {{.name}}, which the
// fields of each recipient fill in. It may be used by many goroutines.
type Template struct {
	slots []slot
	rest  []byte // what stands behind the last slot
}

// slot is a string that is filled in.
type slot struct {
	param  string // where it stands
	before []byte // what stands before it, from the end of the slot before
	text   *template.Template
}

// ParseTemplate reads the parameters of a call. Every string in them, at any depth,
// that holds "{{" is a template of text/template over the fields; everything else
// stays as it was written. What a place prints is escaped for the parse_mode of its
// text or caption, in an album for that of its medium, and stands as it is where
// there is none.
//
// An error names the parameter and quotes nothing of it.
func ParseTemplate(params json.RawMessage) (*Template, error) {
	if p, err := readParams(params); err != nil || p == nil {
		return nil, errors.New("the parameters are no JSON object")
	}
	s := newScanner(params)
	if err := s.value("", "", nil); err != nil {
		return nil, err
	}
	t := &Template{}
	end := int64(0)
	for _, found := range s.found {
		text, err := found.compile()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", found.path, err)
		}
		t.slots = append(t.slots, slot{param: found.path, before: params[end:found.start], text: text})
		end = found.end
	}
	t.rest = params[end:]
	return t, nil
}

// Render is the parameters with the fields filled in. It is an error when a place
// wants a field that is not there, which the error names, or when it cannot be
// filled in for another reason. The values of fields are in no error.
func (t *Template) Render(fields map[string]string) (json.RawMessage, error) {
	var out bytes.Buffer
	var text strings.Builder
	for _, s := range t.slots {
		text.Reset()
		if err := s.text.Execute(&text, fields); err != nil {
			return nil, fmt.Errorf("%s: %w", s.param, unfilled(err))
		}
		out.Write(s.before)
		out.Write(encoded(text.String()))
	}
	out.Write(t.rest)
	return out.Bytes(), nil
}

var (
	missing = regexp.MustCompile(`map has no entry for key "([^"]+)"$`)
	place   = regexp.MustCompile(`^template: :(\d+)`)
)

// unfilled is an error of Execute in words of ours: its own quote the template.
func unfilled(err error) error {
	if field := missing.FindStringSubmatch(err.Error()); field != nil {
		return fmt.Errorf("the field %s is missing", field[1])
	}
	return fmt.Errorf("the template cannot be filled in, see its line %s", lineOf(err))
}

// unread is an error of Parse in words of ours.
func unread(err error) error {
	return fmt.Errorf("line %s of the template cannot be read: a place is written {{.name}}, with a dot", lineOf(err))
}

// lineOf is where a template is wrong, from 1.
func lineOf(err error) string {
	if at := place.FindStringSubmatch(err.Error()); at != nil {
		return at[1]
	}
	return "1"
}

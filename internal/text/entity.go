package text

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf16"
)

// attributes are the fields of an entity beside offset and length, as they were
// written, those included of which this package has never heard.
type attributes map[string]json.RawMessage

// entity is a stretch of formatted text, in UTF-16 code units.
type entity struct {
	offset, length int
	attributes     attributes
}

// formatted is a text after its markup was read.
type formatted struct {
	text     string
	entities []entity
}

// units is the length of s in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// kind are the attributes of a type of entity, with the names and values of pairs.
func kind(name string, pairs ...string) attributes {
	a := attributes{"type": encoded(name)}
	for i := 0; i < len(pairs); i += 2 {
		a[pairs[i]] = encoded(pairs[i+1])
	}
	return a
}

// encoded is a value as JSON, with characters such as < as they are. What is given
// here are strings and valid JSON, which always marshal.
func encoded(v any) json.RawMessage {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes())
}

// readEntities reads a list of entities, or a string that holds one, as Telegram
// takes it too. Where the text ends before them is for within to say.
func readEntities(raw json.RawMessage) ([]entity, error) {
	var packed string
	if json.Unmarshal(raw, &packed) == nil {
		raw = json.RawMessage(packed)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	var list []attributes
	if json.Unmarshal(raw, &list) != nil {
		return nil, ErrEntities
	}
	all := make([]entity, 0, len(list))
	for _, a := range list {
		e := entity{attributes: a}
		if errors.Join(json.Unmarshal(a["offset"], &e.offset), json.Unmarshal(a["length"], &e.length)) != nil {
			return nil, ErrEntities
		}
		if e.offset < 0 || e.length < 0 {
			return nil, ErrEntities
		}
		all = append(all, e)
	}
	return all, nil
}

// fields is the entity as Telegram takes it.
func (e entity) fields() attributes {
	fields := maps.Clone(e.attributes)
	fields["offset"] = json.RawMessage(strconv.Itoa(e.offset))
	fields["length"] = json.RawMessage(strconv.Itoa(e.length))
	return fields
}

// is reports whether the entity, made by kind, is of a type.
func (e entity) is(name string) bool { return string(e.attributes["type"]) == `"`+name+`"` }

// within are the entities of the stretch from one place to another, as those of a
// text of its own: what begins before it, or ends after it, is continued.
func within(all []entity, from, to int) []entity {
	var part []entity
	for _, e := range all {
		start, end := max(e.offset, from), min(e.offset+e.length, to)
		if start < end {
			part = append(part, entity{offset: start - from, length: end - start, attributes: e.attributes})
		}
	}
	return part
}

// sortEntities puts the outer ones before those that they hold.
func sortEntities(all []entity) {
	slices.SortStableFunc(all, func(a, b entity) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(b.length, a.length))
	})
}

package text

import "strings"

// builder puts together what a reader of markup finds.
type builder struct {
	text     strings.Builder
	units    int // the length of the text in UTF-16 code units
	entities []entity
	open     []opened
}

// opened is an entity whose end has not come.
type opened struct {
	name       string // of its tag or mark
	offset     int    // in UTF-16 code units
	begin      int    // the same place in bytes of the text
	source     int    // where its markup begins, in bytes of the source
	attributes attributes
}

func (b *builder) write(s string) {
	b.text.WriteString(s)
	b.units += units(s)
}

func (b *builder) begin(name string, source int, a attributes) {
	b.open = append(b.open, opened{name: name, offset: b.units, begin: b.text.Len(), source: source, attributes: a})
}

// top is the innermost open entity, nil for none.
func (b *builder) top() *opened {
	if len(b.open) == 0 {
		return nil
	}
	return &b.open[len(b.open)-1]
}

// end closes the innermost open entity and returns it. The entity is the caller's
// to add, because only its end may say what it is.
func (b *builder) end() opened {
	o := *b.top()
	b.open = b.open[:len(b.open)-1]
	return o
}

// add makes an entity of everything since o was opened. One of no length is none,
// and neither is one without attributes.
func (b *builder) add(o opened, a attributes) {
	if length := b.units - o.offset; length > 0 && a != nil {
		b.entities = append(b.entities, entity{offset: o.offset, length: length, attributes: a})
	}
}

// inner is the text since o was opened.
func (b *builder) inner(o opened) string { return b.text.String()[o.begin:] }

// result is what was read, or an error for an entity that has no end.
func (b *builder) result() (formatted, error) {
	if o := b.top(); o != nil {
		return formatted{}, &MarkupError{What: "an entity has no end", At: o.source}
	}
	sortEntities(b.entities)
	return formatted{text: b.text.String(), entities: b.entities}, nil
}

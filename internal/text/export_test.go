package text

// Span is an entity for tests: its attributes are JSON with sorted keys.
type Span struct {
	Offset, Length int
	Attributes     string
}

// Blank is blank.
var Blank = blank

// Units is units.
var Units = units

// ParseHTML is parseHTML.
func ParseHTML(source string) (string, []Span, error) { return spans(parseHTML(source)) }

// ParseMarkdown is parseMarkdown.
func ParseMarkdown(source string) (string, []Span, error) { return spans(parseMarkdown(source)) }

func spans(f formatted, err error) (string, []Span, error) {
	var all []Span
	for _, e := range f.entities {
		all = append(all, Span{e.offset, e.length, string(encoded(e.attributes))})
	}
	return f.text, all, err
}

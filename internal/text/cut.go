package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// border is a place between two characters at which a text may be cut.
type border int

// The borders, from the last that is wanted to the first.
const (
	character border = iota
	word
	line
	paragraph
	borders
)

// pieces cuts the text: the first piece holds at most first code points, the
// others at most rest. A piece in which there is nothing to see is left out,
// because Telegram takes none.
func (f formatted) pieces(first, rest int) ([]formatted, error) {
	var all []formatted
	left, from, limit := f.text, 0, first
	for left != "" {
		size := head(left, limit)
		if size == 0 {
			return nil, fmt.Errorf("%w: one of its characters alone has more than %d code points", ErrWhole, limit)
		}
		piece := left[:size]
		to := from + units(piece)
		if !blank(piece) {
			all = append(all, formatted{text: piece, entities: within(f.entities, from, to)})
			limit = rest
		}
		left, from = left[size:], to
	}
	return all, nil
}

// head is how many bytes of the text are its first piece: all of them when it has
// at most limit code points, 0 when its first character alone has more. Otherwise
// the cut is the last paragraph's end in the second half of what would fit, or
// else the last line's, the last word's, the last character's.
func head(text string, limit int) int {
	var last [borders]int
	size, points, before, state := 0, 0, character, -1
	for rest := text; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if points += utf8.RuneCountInString(cluster); points > limit {
			return best(last)
		}
		size += len(cluster)
		after := borderAfter(cluster, before)
		if after == character || 2*points > limit {
			last[after] = size
		}
		last[character], before = size, after
	}
	return size
}

// borderAfter is the border after a character, before being the one before it.
func borderAfter(cluster string, before border) border {
	r, _ := utf8.DecodeRuneInString(cluster)
	switch {
	case (r == '\n' || r == '\r') && before >= line:
		return paragraph
	case r == '\n' || r == '\r':
		return line
	case unicode.IsSpace(r):
		return word
	default:
		return character
	}
}

func best(last [borders]int) int {
	for b := paragraph; b > character; b-- {
		if last[b] > 0 {
			return last[b]
		}
	}
	return last[character]
}

// unseen are the characters that Telegram takes for nothing or for a space, beside
// those that Unicode calls spaces and controls.
const unseen = "\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2800\ufffc"

// blank reports whether there is nothing to see in the text.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(unseen, r)
	}) == ""
}

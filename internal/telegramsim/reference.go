package telegramsim

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// referencePattern is a character reference of HTML. Its semicolon may be missing.
var referencePattern = regexp.MustCompile(`^&(#x[0-9a-fA-F]+|#[0-9]+|[a-zA-Z]+);?`)

// references are those with a name. All others stay text.
var references = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"'}

// reference decodes the character reference that s begins with; size is 0 when there
// is none, and "&" stands for itself.
func reference(s string) (r rune, size int) {
	if !strings.HasPrefix(s, "&") {
		return 0, 0
	}
	found := referencePattern.FindStringSubmatch(s)
	if found == nil {
		return 0, 0
	}
	name := found[1]
	digits, isNumber := strings.CutPrefix(name, "#")
	if !isNumber {
		r = references[name]
	} else if len("&"+name) < 10 {
		base := 10
		if hex, isHex := strings.CutPrefix(digits, "x"); isHex {
			digits, base = hex, 16
		}
		n, _ := strconv.ParseUint(digits, base, 32)
		if n < utf8.MaxRune {
			r = rune(n)
		}
	}
	if r == 0 {
		return 0, 0
	}
	return r, len(found[0])
}

// decoded puts characters in the place of references.
func decoded(raw string) string {
	var text strings.Builder
	for len(raw) > 0 {
		r, size := reference(raw)
		if size == 0 {
			text.WriteByte(raw[0])
			size = 1
		} else {
			text.WriteRune(r)
		}
		raw = raw[size:]
	}
	return text.String()
}

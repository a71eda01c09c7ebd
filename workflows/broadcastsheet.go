package workflows

import (
	"unicode/utf8"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// wordsMost is how many bytes of JSON the errors of a part may have before they
	// are cut short, so that 2,000 results stay below 512 KiB.
	wordsMost = 48 << 10
	// errorMost is how many of them one error may have, and errorShort how many when
	// the others have had theirs.
	errorMost  = 300
	errorShort = 20
)

// sheet is how the recipients of a part ended.
type sheet struct {
	results []contract.RecipientResult
	counts  contract.Counts
	words   int
}

// add puts a result on the sheet. What it cuts depends on the results before it
// alone, and is not cut again in the next run.
func (s *sheet) add(r contract.RecipientResult) {
	most := errorMost
	if s.words > wordsMost {
		most = errorShort
	}
	var size int
	r.Error, size = fitting(r.Error, most)
	s.words += size
	s.results = append(s.results, r)
	s.counts.Add(r)
}

// fitting is the beginning of a text that has at most so many bytes as JSON, and
// how many those are.
func fitting(text string, most int) (string, int) {
	size := 0
	for i, r := range text {
		more := jsonSize(r)
		if size+more > most {
			return text[:i], size
		}
		size += more
	}
	return text, size
}

// jsonSize is how many bytes of JSON a character becomes.
func jsonSize(r rune) int {
	switch {
	case r == '"' || r == '\\':
		return 2
	case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
		return 6
	default:
		return utf8.RuneLen(r)
	}
}

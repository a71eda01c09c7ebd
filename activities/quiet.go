package activities

import (
	"encoding/json"
	"strings"
)

// hidden stands where an error quoted the call's own words.
const hidden = "…"

// quiet is the text of an error without what it quotes of the call: Telegram
// repeats a piece of the message in some of its refusals ("unsupported start
// tag "x""), and message text belongs into no failure and no ledger.
func quiet(err error, params json.RawMessage) string {
	var value any
	if json.Unmarshal(params, &value) != nil {
		value = nil
	}
	words := strings.ToLower(strings.Join(texts(value, nil), "\n"))
	return unquote(unquote(err.Error(), `"`, words), ` '`, words)
}

// unquote hides everything from the first quotation mark to the last, or to the
// end where a cut text has lost the last, if any part of it is among the words.
func unquote(text, mark, words string) string {
	first := strings.Index(text, mark)
	if first < 0 {
		return text
	}
	start, quote := first+len(mark), mark[len(mark)-1:]
	end := strings.LastIndex(text, quote)
	if end < start {
		end = len(text)
	}
	for part := range strings.SplitSeq(strings.ToLower(text[start:end]), quote) {
		part = strings.TrimSpace(part)
		if len(part) > 1 && strings.Contains(words, part) {
			return text[:start] + hidden + text[end:]
		}
	}
	return text
}

// texts collects the strings of a JSON value.
func texts(value any, all []string) []string {
	switch v := value.(type) {
	case string:
		return append(all, v)
	case []any:
		for _, item := range v {
			all = texts(item, all)
		}
	case map[string]any:
		for _, item := range v {
			all = texts(item, all)
		}
	}
	return all
}

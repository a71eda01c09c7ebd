package activities

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// unparsed is how Telegram begins to say that it cannot parse the markup of a
// text, perhaps of one inside an album or an answer to an inline query. It is
// looked for at the front only: what follows may quote the text.
var unparsed = regexp.MustCompile(`(?i)^(bad request: )?(can't parse [a-z ]+: )*can't parse entities: `)

// serialized are the parameters with a text inside that may come as a string
// that holds JSON.
var serialized = []string{"checklist", "media", "options", "reply_parameters", "result", "results"}

// simplify takes the parse_mode out of a call whose text Telegram cannot parse,
// where the call wants that, and reports whether it is to be made once more.
//
// Like a move it is written at once: it cost a request. Where an earlier request
// may have arrived the text is left as it is, so that it does not arrive in two
// forms; an edit leaves one form however often it is made.
func (t *try) simplify(ctx context.Context, err error) bool {
	switch {
	case !t.in.Call.PlainFallback, !unparsable(err):
		return false
	case t.entries().PossibleDuplicate && !t.method.Repeatable:
		return false
	}
	params, changed := plain(t.params)
	if !changed {
		return false
	}
	t.params = params
	_ = t.write(ctx, func(l *contract.Ledger) { l.Degraded, l.InFlight = true, false })
	return true
}

func unparsable(err error) bool {
	te, ok := errors.AsType[*telegram.Error](err)
	return ok && te.Code == http.StatusBadRequest && unparsed.MatchString(te.Description)
}

// plain returns params without any parse_mode, at whatever depth and of whichever
// text (question_parse_mode, quote_parse_mode and the like), and whether there
// was one. The entities beside it go, too: they did not count until now. Everything
// else stays as it was written.
func plain(params json.RawMessage) (json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case json.Unmarshal(params, &fields) == nil:
		return written(params, fields, plainFields(fields))
	case json.Unmarshal(params, &items) == nil:
		return written(params, items, plainItems(items))
	default:
		return params, false
	}
}

func plainFields(fields map[string]json.RawMessage) bool {
	changed := dropModes(fields)
	for name, value := range fields {
		simpler, ok := plain(value)
		if !ok && slices.Contains(serialized, name) {
			simpler, ok = plainString(value)
		}
		if ok {
			fields[name], changed = simpler, true
		}
	}
	return changed
}

// dropModes takes every parse_mode, and the entities beside it, out of one object.
func dropModes(fields map[string]json.RawMessage) (changed bool) {
	for name := range fields {
		switch text, ok := strings.CutSuffix(name, "parse_mode"); {
		case !ok:
		case text == "": // of a text or of a caption
			delete(fields, name)
			delete(fields, "entities")
			delete(fields, "caption_entities")
			changed = true
		case strings.HasSuffix(text, "_"):
			delete(fields, name)
			delete(fields, text+"entities")
			changed = true
		}
	}
	return changed
}

func plainItems(items []json.RawMessage) (changed bool) {
	for i, item := range items {
		if simpler, ok := plain(item); ok {
			items[i], changed = simpler, true
		}
	}
	return changed
}

// plainString is plain for JSON inside a string.
func plainString(value json.RawMessage) (json.RawMessage, bool) {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value, false
	}
	simpler, changed := plain(json.RawMessage(text))
	return written(value, string(simpler), changed)
}

// written is the JSON of a value that was changed, else the JSON it came from.
func written(was json.RawMessage, value any, changed bool) (json.RawMessage, bool) {
	if !changed {
		return was, false
	}
	now, err := (contract.Call{Params: value}).Object()
	if err != nil {
		return was, false
	}
	return now, true
}

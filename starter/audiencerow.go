package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// chatColumns are the names under which a row has its chat, the first that is
// there counts.
var chatColumns = []string{"chat_id", "chat", "id"}

var errEncoding = errors.New("it is not in UTF-8: save the file as UTF-8")

// row is one line: an id or an @name, alone or as a JSON string, or a JSON object.
func (a *audienceReader) row(text string) error {
	if !utf8.ValidString(text) {
		return errEncoding
	}
	switch text[0] {
	case '{':
		return a.object(text)
	case '"':
		var chat string
		if json.Unmarshal([]byte(text), &chat) != nil {
			return errors.New("it is no JSON string")
		}
		return a.add(chat, nil)
	default:
		return a.add(text, nil)
	}
}

func (a *audienceReader) object(text string) error {
	var values map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &values) != nil {
		return errors.New("it is no JSON object")
	}
	chat := slices.IndexFunc(chatColumns, func(name string) bool { return values[name] != nil })
	if chat < 0 {
		return errors.New("it has no chat_id")
	}
	fields := make(map[string]string, len(values)-1)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, there, ok := scalar(values[name])
		if !ok {
			return fmt.Errorf("%.40q is nested: want a text, a number, true or false", name)
		}
		if there {
			fields[name] = value
		}
	}
	to := fields[chatColumns[chat]]
	delete(fields, chatColumns[chat])
	return a.add(to, fields)
}

// scalar is a JSON value as text, a number as it was written. Null is not there, and
// an object or a list is not ok.
func scalar(raw json.RawMessage) (value string, there, ok bool) {
	switch raw[0] {
	case '{', '[':
		return "", false, false
	case 'n':
		return "", false, true
	case '"':
		err := json.Unmarshal(raw, &value)
		return value, err == nil, true
	default:
		return string(raw), true, true
	}
}

var (
	publicName = regexp.MustCompile(`^@[A-Za-z0-9_]{4,32}$`)
	// rounded is how spreadsheets write a number that they have shortened.
	rounded = regexp.MustCompile(`^[+-]?[0-9]+([.,][0-9]*)?([eE][+-]?[0-9]+)?$`)
)

// parseChat is a chat's id or its @name. White space around it does not count.
func parseChat(text string) (string, error) {
	text = strings.TrimSpace(text)
	id, err := strconv.ParseInt(text, 10, 64)
	switch plain := err == nil && strconv.FormatInt(id, 10) == text; {
	case plain && id != 0, publicName.MatchString(text):
		return strings.Clone(text), nil // it outlives its row
	case text == "":
		return "", errors.New("it names no chat")
	case plain:
		return "", errors.New("0 is no chat")
	case strings.ContainsAny(text, ".,eE") && rounded.MatchString(text):
		return "", fmt.Errorf("%.40q is a number as spreadsheets shorten it: format the column as whole numbers, and export it again", text)
	default:
		return "", fmt.Errorf("%.40q is neither the id of a chat nor an @name of 4 to 32 letters, digits and _", text)
	}
}

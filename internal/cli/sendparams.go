package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/durabot/durabot/internal/contract"
)

// parseParams reads a JSON object, or the file that @FILE names. Numbers stay as
// they are written. No error quotes a parameter, not even a character of one.
func parseParams(text string) (map[string]json.RawMessage, error) {
	data, from := []byte(text), "--params"
	if file, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if data, err = os.ReadFile(file); err != nil { //nolint:gosec // the caller names the file
			return nil, fmt.Errorf("--params: %w", err)
		}
		from = "--params: " + file
	}
	if text == "" {
		return map[string]json.RawMessage{}, nil
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s: it is no UTF-8", from)
	}
	var params map[string]json.RawMessage
	err := json.Unmarshal(data, &params)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf(`%s: no JSON: it goes wrong at byte %d of %d; want an object such as {"text":"hi"}`, from, wrong.Offset, len(data))
	}
	if err != nil || params == nil {
		return nil, fmt.Errorf(`%s: want a JSON object such as {"text":"hi"}, or @FILE that holds one`, from)
	}
	return params, nil
}

// chatName is the @name of a public group or channel.
var chatName = regexp.MustCompile(`^@[A-Za-z][A-Za-z0-9_]{2,63}$`)

// address fills in the chat where the parameters lack it, and returns them in
// wire form.
func (f *sendFlags) address(params map[string]json.RawMessage) (json.RawMessage, error) {
	if f.chat != "" {
		chat, err := chatParam(f.chat)
		if err != nil {
			return nil, err
		}
		named := chatOf(params["chat_id"])
		if named != "" && named != chatOf(chat) {
			return nil, errors.New("--chat: the chat_id in --params is another one: leave out one of them")
		}
		params["chat_id"] = chat
	}
	var object bytes.Buffer
	enc := json.NewEncoder(&object)
	enc.SetEscapeHTML(false)
	err := enc.Encode(params)
	return bytes.TrimSpace(object.Bytes()), err
}

// chatOf is a chat_id as a string, "" for none.
func chatOf(value json.RawMessage) string {
	return contract.Address(json.RawMessage(`{"chat_id":` + string(value) + `}`))
}

// chatParam is a chat as the Bot API wants it: a number, or an @name.
func chatParam(chat string) (json.RawMessage, error) {
	if chatName.MatchString(chat) {
		return json.RawMessage(strconv.Quote(chat)), nil
	}
	id, err := strconv.ParseInt(chat, 10, 64)
	if err != nil || id == 0 {
		return nil, fmt.Errorf("--chat: want a chat id such as 42 or -1001234567890, or @name, got %q", chat)
	}
	return json.RawMessage(strconv.FormatInt(id, 10)), nil
}

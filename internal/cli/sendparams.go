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

// parameters are those that the order names: a JSON object, or, from the command
// line, the file that @FILE names.
func (o *order) parameters() (map[string]json.RawMessage, error) {
	data, name := []byte(o.params), "params"
	if file, ok := strings.CutPrefix(o.params, "@"); ok {
		var err error
		if data, err = os.ReadFile(file); err != nil { //nolint:gosec // the caller names the file
			return nil, o.fault("params", "%w", err)
		}
		name = "params: " + file
	}
	if o.params == "" {
		return map[string]json.RawMessage{}, nil
	}
	params, err := object(data)
	if err != nil {
		return nil, o.fault(name, "%w", err)
	}
	return params, withFilesHere(params)
}

// object reads a JSON object. Numbers stay as they are written. No error quotes
// a parameter, not even a character of one.
func object(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is no UTF-8")
	}
	var params map[string]json.RawMessage
	err := json.Unmarshal(data, &params)
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf(`no JSON: it goes wrong at byte %d of %d; want an object such as {"text":"hi"}`, wrong.Offset, len(data))
	}
	if err != nil || params == nil {
		return nil, errors.New(`want a JSON object such as {"text":"hi"}`)
	}
	return params, nil
}

// chatName is the @name of a public group or channel.
var chatName = regexp.MustCompile(`^@[A-Za-z][A-Za-z0-9_]{2,63}$`)

// address fills in the chat where the parameters lack it, and returns them in
// wire form.
func (o *order) address(params map[string]json.RawMessage) (json.RawMessage, error) {
	if o.chat != "" {
		chat, err := chatParam(o.chat)
		if err != nil {
			return nil, o.fault("chat", "%w", err)
		}
		named := chatOf(params["chat_id"])
		if named != "" && named != chatOf(chat) {
			return nil, o.fault("chat", "the chat_id in %s is another one: leave out one of them", o.mark("params"))
		}
		params["chat_id"] = chat
	}
	return unescaped(params)
}

// unescaped is v as JSON whose characters stay as they are.
func unescaped(v any) (json.RawMessage, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
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
		return nil, fmt.Errorf("want a chat id such as 42 or -1001234567890, or @name, got %q", chat)
	}
	return json.RawMessage(strconv.FormatInt(id, 10)), nil
}

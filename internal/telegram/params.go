package telegram

import (
	"bytes"
	"encoding/json"
	"strings"
)

// maxItems is the longest list any method takes; a longer one is refused by
// Telegram and must not empty a budget before that.
const maxItems = 100

// Items is how many messages a call makes: the length of an album's media or of
// message_ids, 1 for every other method and for params it cannot read, at most
// 100. Telegram counts a batch by its messages.
func Items(method string, params json.RawMessage) int {
	name, ok := multi[strings.ToLower(method)]
	if !ok {
		return 1
	}
	var items []json.RawMessage
	if json.Unmarshal(unquote(param(params, name)), &items) != nil {
		return 1
	}
	return min(max(len(items), 1), maxItems)
}

// ChatID reads chat_id: a number, a string that holds one, or an @name, which
// comes back with its @ and still has to be resolved to an id, or a limiter sees
// one chat as two. ok is false without a usable chat_id, as in answers to queries
// and edits of inline messages.
func ChatID(params json.RawMessage) (id int64, username string, ok bool) {
	raw := param(params, "chat_id")
	if id = integer(raw); id != 0 {
		return id, "", true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && len(text) > 1 && text[0] == '@' {
		return 0, text, true
	}
	return 0, "", false
}

// Paid reports whether a call asks to be paid for, so that the free rate is not
// what limits it. Telegram does not pass the wish on for a business account
// (tdlib/telegram-bot-api, Client.cpp, do_send_message).
func Paid(method string, params json.RawMessage) bool {
	const name = "allow_paid_broadcast"
	if !bytes.Contains(params, []byte(name)) || !Lookup(method).Payable {
		return false
	}
	asked := string(unquote(param(params, name)))
	return (asked == "true" || asked == "True" || asked == "1") && param(params, "business_connection_id") == nil
}

func param(params json.RawMessage, name string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil {
		return nil
	}
	return fields[name]
}

// unquote opens a value that was put into a string, as form encoding wants it.
func unquote(raw json.RawMessage) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return json.RawMessage(text)
	}
	return raw
}

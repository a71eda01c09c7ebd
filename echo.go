package durabot

import (
	"context"
	"encoding/json"
	"strings"
)

// maxText is the longest message Telegram takes, in code points (Bot API,
// sendMessage; tdlib/td counts utf8_length).
const maxText = 4096

// Echo is the stock handler: it greets on /start and repeats every text as a
// reply to its message. Other updates it ignores.
func Echo(_ context.Context, u Update) ([]Call, error) {
	if u.Kind != "message" {
		return nil, nil
	}
	var m struct {
		MessageID json.Number `json:"message_id"`
		Text      string      `json:"text"`
	}
	if err := u.Decode(&m); err != nil || m.Text == "" {
		return nil, err
	}
	text := cut(m.Text, maxText)
	if command, _, _ := strings.Cut(strings.Fields(text + " .")[0], "@"); command == "/start" {
		text = "Hello! Write to me and I will repeat it."
	}
	return []Call{{Method: "sendMessage", Params: Params{
		"chat_id":          u.ChatID,
		"text":             text,
		"reply_parameters": Params{"message_id": m.MessageID, "allow_sending_without_reply": true},
	}}}, nil
}

func cut(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

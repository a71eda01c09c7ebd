// Command echo is the smallest bot: it answers every text with the same text.
package main

import (
	"context"

	"github.com/durabot/durabot"
)

func main() { durabot.Main(echo) }

func echo(_ context.Context, u durabot.Update) ([]durabot.Call, error) {
	if u.Kind != "message" || u.Text() == "" {
		return nil, nil
	}
	return []durabot.Call{{
		Method: "sendMessage",
		Params: durabot.Params{"chat_id": u.ChatID, "text": u.Text()},
	}}, nil
}

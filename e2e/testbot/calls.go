package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/durabot/durabot"
)

func slow(ctx context.Context, u durabot.Update, rest string) ([]durabot.Call, error) {
	d, err := time.ParseDuration(strings.Fields(rest + " 1s")[0])
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(d):
		return []durabot.Call{reply(u, u.Text())}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func many(u durabot.Update, rest string) []durabot.Call {
	n, _ := strconv.Atoi(rest)
	calls := make([]durabot.Call, n)
	for i := range calls {
		calls[i] = reply(u, fmt.Sprintf("%d of %d", i+1, n))
	}
	return calls
}

// long is one reply that takes n messages.
func long(u durabot.Update, rest string) []durabot.Call {
	n, _ := strconv.Atoi(rest)
	line := strings.Repeat("x", 99) + "\n"
	call := reply(u, strings.Repeat(line, 41*n))
	call.Split = true
	return []durabot.Call{call}
}

// roll decides differently each time it runs.
func roll(u durabot.Update) []durabot.Call {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	return []durabot.Call{reply(u, now+" first"), reply(u, now+" second"), reply(u, now+" third")}
}

func reply(u durabot.Update, text string) durabot.Call {
	return durabot.Call{Method: "sendMessage", Params: durabot.Params{"chat_id": u.ChatID, "text": "re: " + text}}
}

func edit(u durabot.Update, message json.Number) durabot.Call {
	return durabot.Call{Method: "editMessageText", Params: durabot.Params{"chat_id": u.ChatID, "message_id": message, "text": said(u)}}
}

// touch edits the message under the button that was pressed.
func touch(u durabot.Update) ([]durabot.Call, error) {
	var press struct {
		Message struct {
			ID json.Number `json:"message_id"`
		} `json:"message"`
	}
	if err := u.Decode(&press); err != nil {
		return nil, err
	}
	return []durabot.Call{edit(u, press.Message.ID)}, nil
}

// said is a message's text, or what the button says that was pressed.
func said(u durabot.Update) string {
	var press struct {
		Data string `json:"data"`
	}
	if u.Kind == "callback_query" && u.Decode(&press) == nil {
		return press.Data
	}
	return u.Text()
}

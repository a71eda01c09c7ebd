// Command support is a help desk: buttons, a message to the admin (the chat in
// ADMIN_CHAT) that overtakes everything else, and a reminder an hour later.
package main

import (
	"context"
	"os"
	"time"

	"github.com/durabot/durabot"
)

func main() { durabot.Main(support) }

func support(_ context.Context, u durabot.Update) ([]durabot.Call, error) {
	switch {
	case u.Kind == "callback_query":
		var press struct{ Data string }
		if err := u.Decode(&press); err != nil || press.Data != "person" {
			return say(u, "We are here from 9 to 5."), err
		}
		reminder := say(u, "Still waiting? We have not forgotten you.")[0]
		reminder.At = time.Now().Add(time.Hour)
		alert := durabot.Call{
			Method: "sendMessage", Priority: durabot.Urgent, Independent: true,
			Params: durabot.Params{"chat_id": os.Getenv("ADMIN_CHAT"), "text": "Somebody asks for you."},
		}
		return append(say(u, "A person will write to you."), reminder, alert), nil
	case u.Kind != "message":
		return nil, nil
	}
	buttons := [][]durabot.Params{{{"text": "Opening hours", "callback_data": "hours"}, {"text": "Ask a person", "callback_data": "person"}}}
	calls := say(u, "How can we help?")
	calls[0].Params.(durabot.Params)["reply_markup"] = durabot.Params{"inline_keyboard": buttons}
	return calls, nil
}

func say(u durabot.Update, text string) []durabot.Call {
	return []durabot.Call{{Method: "sendMessage", Params: durabot.Params{"chat_id": u.ChatID, "text": text}}}
}

package durabot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/durabot/durabot"
)

// weather is a whole bot: main would be durabot.Main(weather).
func weather(_ context.Context, u durabot.Update) ([]durabot.Call, error) {
	city, ok := strings.CutPrefix(u.Text(), "/weather ")
	if !ok {
		return nil, nil
	}
	return []durabot.Call{{
		Method: "sendMessage",
		Params: durabot.Params{"chat_id": u.ChatID, "text": city + ": sunny"},
	}}, nil
}

// A handler is a plain function, so it is tried out as one: no Telegram, no
// Temporal, no fakes.
func Example() {
	calls, err := weather(context.Background(), durabot.Update{
		Kind: "message", ChatID: 42,
		Raw: json.RawMessage(`{"update_id":1,"message":{"message_id":7,"chat":{"id":42},"text":"/weather Oslo"}}`),
	})
	fmt.Println(len(calls), err)
	fmt.Println(calls[0].Method, calls[0].Params)
	// Output:
	// 1 <nil>
	// sendMessage map[chat_id:42 text:Oslo: sunny]
}

func ExampleFile() {
	call := durabot.Call{Method: "sendPhoto", Params: durabot.Params{"chat_id": 42, "photo": durabot.File("cat.jpg")}}
	object, err := call.Object()
	fmt.Println(string(object), err)
	// Output: {"chat_id":42,"photo":{"@file":"cat.jpg"}} <nil>
}

// A reminder leaves in its own time, and holds up nothing else in the chat. Its
// key makes it one message, however often it is asked for.
func ExampleCall() {
	call := durabot.Call{
		Method: "sendMessage", Key: "reminder-42", Priority: durabot.Bulk,
		Params: durabot.Params{"chat_id": 42, "text": "It is time."},
	}
	fmt.Println(call.Separate(), call.Lifetime())
	// Output: true 24h0m0s
}

func ExampleEcho() {
	calls, err := durabot.Echo(context.Background(), durabot.Update{
		Kind: "message", ChatID: 42, Raw: json.RawMessage(`{"update_id":1,"message":{"message_id":7,"text":"hello"}}`),
	})
	fmt.Println(calls[0].Params.(durabot.Params)["text"], err)
	// Output: hello <nil>
}

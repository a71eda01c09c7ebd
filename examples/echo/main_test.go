package main

import (
	"testing"

	"github.com/durabot/durabot"
)

func TestEchoAnswersATextWithTheSameText(t *testing.T) {
	t.Parallel()
	u := durabot.Update{Kind: "message", ChatID: 42, Raw: []byte(`{"update_id":1,"message":{"text":"hello"}}`)}
	calls, err := echo(t.Context(), u)
	if err != nil || len(calls) != 1 {
		t.Fatalf("want one call, got %v, %v", calls, err)
	}
	params, ok := calls[0].Params.(durabot.Params)
	if !ok || params["text"] != "hello" || params["chat_id"] != int64(42) {
		t.Fatalf("want the text back in its chat, got %v", calls[0].Params)
	}
}

func TestEchoIgnoresWhatIsNoText(t *testing.T) {
	t.Parallel()
	calls, err := echo(t.Context(), durabot.Update{Kind: "message", Raw: []byte(`{"update_id":1,"message":{}}`)})
	if err != nil || calls != nil {
		t.Fatalf("want nothing, got %v, %v", calls, err)
	}
}

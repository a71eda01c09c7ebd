package telegram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/durabot/durabot/internal/telegram"
)

// A call ends in a result or in an error whose class says what to do.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprint(w, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 3","parameters":{"retry_after":3}}`)
	}))
	defer server.Close()

	token, err := telegram.ParseToken("42:not-a-real-secret\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := telegram.New(telegram.Options{BaseURL: server.URL, Token: token})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Call(context.Background(), "sendMessage", json.RawMessage(`{"chat_id":1,"text":"hello"}`))

	if e, ok := errors.AsType[*telegram.Error](err); ok {
		fmt.Println(telegram.Classify(err, "sendMessage"), e.RetryAfter)
	}
	fmt.Println(err)
	// Output:
	// rate_limited 3s
	// telegram: sendMessage: status 429: Too Many Requests: retry after 3
}

// A token prints as its bot id. Reveal is the only way to the rest.
func ExampleToken() {
	token, err := telegram.ParseToken("42:not-a-real-secret")
	fmt.Println(token, err)
	fmt.Println(token.Redact("POST /bot42:not-a-real-secret/getMe"))
	// Output:
	// 42:[redacted] <nil>
	// POST /bot42:[redacted]/getMe
}

// Lookup tells a sender what a method costs and whether it may be repeated.
func ExampleLookup() {
	for _, name := range []string{"sendmessage", "editMessageText", "answerCallbackQuery"} {
		method := telegram.Lookup(name)
		fmt.Println(method.Name, method.Counts, method.Repeatable)
	}
	// Output:
	// sendMessage true false
	// editMessageText true true
	// answerCallbackQuery false true
}

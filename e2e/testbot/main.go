// Command testbot is the bot that the end-to-end tests run. What it does with a
// message stands in the message's first word; see handle.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/durabot/durabot"
)

func main() { durabot.Main(handle) }

// handle notes each run in the file HANDLED names, so that tests can count, and
// then obeys.
func handle(ctx context.Context, u durabot.Update) ([]durabot.Call, error) {
	if err := note(u); err != nil {
		return nil, err
	}
	word, rest, _ := strings.Cut(u.Text(), " ")
	switch word {
	case "slow":
		return slow(ctx, u, rest)
	case "panic":
		panic("told to")
	case "exit":
		if os.Getenv("MENDED") == "" {
			os.Exit(3)
		}
	case "fail":
		return nil, errors.New("told to fail")
	case "hang":
		select {}
	case "once":
		call := reply(u, u.Text())
		call.Delivery = durabot.AtMostOnce
		return []durabot.Call{call}, nil
	case "short":
		call := reply(u, u.Text())
		call.TTL = 3 * time.Second
		return []durabot.Call{call}, nil
	case "many":
		return many(u, rest), nil
	case "typing":
		action := durabot.Call{Method: "sendChatAction", Params: durabot.Params{"chat_id": u.ChatID, "action": "typing"}}
		return []durabot.Call{action, reply(u, u.Text())}, nil
	case "roll":
		return roll(u), nil
	case "later":
		call := reply(u, u.Text())
		call.At = time.Now().Add(3 * time.Second)
		return []durabot.Call{call}, nil
	case "key":
		call := reply(u, u.Text())
		call.Key = rest
		return []durabot.Call{call}, nil
	case "long":
		return long(u, rest), nil
	case "edit":
		return []durabot.Call{{Method: "editMessageText", Params: durabot.Params{"chat_id": u.ChatID, "message_id": json.Number(rest), "text": u.Text()}}}, nil
	case "bad":
		return []durabot.Call{{Method: "sendMessage", Params: durabot.Params{"chat_id": u.ChatID, "text": ""}}, reply(u, "after bad")}, nil
	}
	if u.Kind == "callback_query" || u.Text() != "" {
		return []durabot.Call{reply(u, u.Text())}, nil
	}
	return nil, nil
}

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

func note(u durabot.Update) error {
	name := os.Getenv("HANDLED")
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // the test's own file
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, u.ID)
	return errors.Join(err, f.Close())
}

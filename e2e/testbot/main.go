// Command testbot is the bot that the end-to-end tests run. What it does with a
// message stands in the message's first word; see handle.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/durabot/durabot"
)

func main() { durabot.Main(handle) }

// handle notes each run in the file that HANDLED names, and then obeys.
func handle(ctx context.Context, u durabot.Update) ([]durabot.Call, error) {
	if err := note(u); err != nil {
		return nil, err
	}
	word, rest, _ := strings.Cut(said(u), " ")
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
	case "stumble":
		if first, err := firstRun(u); first || err != nil {
			return nil, cmp.Or(err, errors.New("told to stumble"))
		}
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
	case "who":
		return []durabot.Call{reply(u, strconv.Itoa(os.Getpid()))}, nil
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
		return []durabot.Call{edit(u, json.Number(rest))}, nil
	case "touch":
		return touch(u)
	case "bad":
		return []durabot.Call{{Method: "sendMessage", Params: durabot.Params{"chat_id": u.ChatID, "text": ""}}, reply(u, "after bad")}, nil
	}
	if said(u) != "" {
		return []durabot.Call{reply(u, said(u))}, nil
	}
	return nil, nil
}

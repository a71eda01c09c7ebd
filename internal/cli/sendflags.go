package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// sendFlags say which call to make, and when.
type sendFlags struct {
	chat, text, method, params, key, at string
	priority, delivery                  *choice
	ttl, in                             time.Duration
	wait                                bool
	given                               func(flag string) bool
}

func newSendFlags() *sendFlags {
	return &sendFlags{
		priority: &choice{value: string(contract.Normal), words: []string{string(contract.Urgent), string(contract.Normal), string(contract.Bulk)}},
		delivery: &choice{value: string(contract.AtLeastOnce), words: []string{string(contract.AtLeastOnce), string(contract.AtMostOnce)}},
	}
}

func (f *sendFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.chat, "chat", "", "chat id or @name; fills in chat_id where --params lacks it")
	flags.StringVar(&f.text, "text", "", "text of a plain message")
	flags.StringVar(&f.method, "method", "", "Bot API method, in place of --text")
	flags.StringVar(&f.params, "params", "", "its parameters: a JSON object, or @FILE that holds one")
	flags.StringVar(&f.key, "key", "", "idempotency key: with the same key it is sent once (default: a new one)")
	flags.Var(f.priority, "priority", "the class in which it waits")
	flags.Var(f.delivery, "delivery", "what to do when nobody knows whether Telegram took it: send again, or never")
	flags.DurationVar(&f.ttl, "ttl", contract.DefaultTTL, "how long it may wait for delivery before it expires")
	flags.StringVar(&f.at, "at", "", "time at which it leaves, such as 2030-01-31T09:00:00Z")
	flags.DurationVar(&f.in, "in", 0, "time from now after which it leaves, such as 10m")
	flags.BoolVar(&f.wait, "wait", false, "wait until it has ended; exit code 1 unless it was delivered")
}

// call is the call that the flags ask for. The error names the flag and what to
// do, and quotes no parameter.
func (f *sendFlags) call(now time.Time) (contract.Call, error) {
	c := contract.Call{
		Priority: contract.Priority(f.priority.value), Delivery: contract.Delivery(f.delivery.value), TTL: f.ttl, Key: f.key,
	}
	if f.ttl <= 0 {
		return c, fmt.Errorf("--ttl: want more than 0, got %v", f.ttl)
	}
	if f.key == "" && f.given("key") {
		return c, errors.New("--key: it is empty: leave the flag out to have one made")
	}
	if err := starter.CheckKey(f.key); err != nil {
		return c, fmt.Errorf("--%w", err)
	}
	var err error
	if c.At, err = f.leave(now); err != nil {
		return c, err
	}
	var params map[string]json.RawMessage
	if c.Method, params, err = f.content(); err != nil {
		return c, err
	}
	if c.Params, err = f.address(params); err != nil {
		return c, err
	}
	return c.Seal()
}

// leave is when the call may leave, zero for now.
func (f *sendFlags) leave(now time.Time) (time.Time, error) {
	switch {
	case f.at != "" && f.in != 0:
		return time.Time{}, errors.New("--at or --in: give one of them")
	case f.in < 0:
		return time.Time{}, fmt.Errorf("--in: want 0 or more, got %v", f.in)
	case f.in > 0:
		return now.Add(f.in), nil
	case f.at == "":
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, f.at)
	if err != nil {
		return at, fmt.Errorf("--at: want a time such as 2030-01-31T09:00:00Z or 2030-01-31T09:00:00+02:00, got %q", f.at)
	}
	return at, nil
}

// content is the method and its parameters, without a chat.
func (f *sendFlags) content() (method string, params map[string]json.RawMessage, err error) {
	switch {
	case f.given("text") && (f.given("method") || f.given("params")):
		return "", nil, errors.New("--text or --method with --params: give one of them")
	case f.given("text"):
		return f.plain()
	case f.method == "" && f.given("params"):
		return "", nil, errors.New("--params: say with --method whose they are, such as --method sendPhoto")
	case f.method == "":
		return "", nil, errors.New("nothing to send: give --text, or --method with --params")
	}
	params, err = parseParams(f.params)
	return f.method, params, err
}

// plain is a message of text and nothing else.
func (f *sendFlags) plain() (string, map[string]json.RawMessage, error) {
	switch {
	case strings.TrimSpace(f.text) == "":
		return "", nil, errors.New("--text: it is empty, and Telegram takes no empty message")
	case !utf8.ValidString(f.text):
		return "", nil, errors.New("--text: it is no UTF-8")
	case f.chat == "":
		return "", nil, errors.New("--chat: say to whom: a chat id such as 42, or @name")
	}
	text, err := json.Marshal(f.text)
	return "sendMessage", map[string]json.RawMessage{"text": text}, err
}

package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// order is one message as a person asks for it, by flags or in a line of a file.
type order struct {
	chat, text, method, params, key, at, after string
	priority, delivery                         *choice
	ttl, in                                    time.Duration
	split, plain, delivered                    bool

	// given reports whether the field was named at all, and mark is how errors
	// name it.
	given func(field string) bool
	mark  func(field string) string
	now   time.Time
}

// fault is an error about a field. It says what was wanted, what was found, and
// quotes no parameter.
func (o *order) fault(field, text string, args ...any) error {
	return fmt.Errorf("%s: %w", o.mark(field), fmt.Errorf(text, args...))
}

// message is what the order asks for.
func (o *order) message() (starter.Message, error) {
	m := starter.Message{Key: o.key, After: o.after, AfterDelivered: o.delivered}
	if err := o.names(); err != nil {
		return m, err
	}
	var err error
	if m.Call, err = o.call(); err != nil {
		return m, err
	}
	return m, activities.CheckSplit(m.Call)
}

// names checks the message's own key, and that of the one before it.
func (o *order) names() error {
	switch {
	case o.key == "" && o.given("key"):
		return o.fault("key", "it is empty: leave it out to have one made")
	case o.after == "" && o.given("after"):
		return o.fault("after", "it is empty: want the key of the message that has to end first")
	case o.delivered && o.after == "":
		return o.fault("after-delivered", "say with %s which message has to be delivered", o.mark("after"))
	}
	if err := starter.CheckKey(o.key); err != nil {
		return fmt.Errorf("%s%w", o.mark(""), err)
	}
	if err := starter.CheckAfter(o.after, o.key); err != nil {
		return fmt.Errorf("%s%w", o.mark(""), err)
	}
	return nil
}

// call is the message's call, checked.
func (o *order) call() (contract.Call, error) {
	c := contract.Call{
		Priority: contract.Priority(o.priority.value), Delivery: contract.Delivery(o.delivery.value),
		Split: o.split, PlainFallback: o.plain,
	}
	if o.given("ttl") {
		if c.TTL = o.ttl; c.TTL <= 0 {
			return c, o.fault("ttl", "want more than 0, got %v", o.ttl)
		}
	}
	var err error
	if c.At, err = o.leave(); err != nil {
		return c, err
	}
	var params map[string]json.RawMessage
	if c.Method, params, err = o.content(); err != nil {
		return c, err
	}
	if c.Params, err = o.address(params); err != nil {
		return c, err
	}
	if o.chat == "" && o.given("text") {
		return c, o.fault("chat", "say to whom: a chat id such as 42, or @name")
	}
	return c.Seal()
}

// leave is when the call may leave, zero for now.
func (o *order) leave() (time.Time, error) {
	switch {
	case o.at != "" && o.in != 0:
		return time.Time{}, fmt.Errorf("%s or %s: give one of them", o.mark("at"), o.mark("in"))
	case o.in < 0:
		return time.Time{}, o.fault("in", "want 0 or more, got %v", o.in)
	case o.in > 0:
		return o.now.Add(o.in), nil
	case o.at == "":
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, o.at)
	if err != nil {
		return at, o.fault("at", "want a time such as 2030-01-31T09:00:00Z or 2030-01-31T09:00:00+02:00, got %q", o.at)
	}
	return at, nil
}

// content is the method and its parameters, without a chat.
func (o *order) content() (method string, params map[string]json.RawMessage, err error) {
	switch {
	case o.given("text") && (o.given("method") || o.given("params")):
		return "", nil, fmt.Errorf("%s or %s with %s: give one of them", o.mark("text"), o.mark("method"), o.mark("params"))
	case o.given("text"):
		return o.plainText()
	case o.method == "" && o.given("params"):
		return "", nil, o.fault("params", "say with %s whose they are, such as sendPhoto", o.mark("method"))
	case o.method == "":
		return "", nil, fmt.Errorf("nothing to send: give %s, or %s with %s", o.mark("text"), o.mark("method"), o.mark("params"))
	}
	params, err = o.parameters()
	return o.method, params, err
}

// plainText is a message of text and nothing else.
func (o *order) plainText() (string, map[string]json.RawMessage, error) {
	switch {
	case strings.TrimSpace(o.text) == "":
		return "", nil, o.fault("text", "it is empty, and Telegram takes no empty message")
	case !utf8.ValidString(o.text):
		return "", nil, o.fault("text", "it is no UTF-8")
	}
	text, err := unescaped(o.text)
	return "sendMessage", map[string]json.RawMessage{"text": text}, err
}

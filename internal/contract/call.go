package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// DefaultTTL is how long a call may wait for its delivery when it names no TTL.
const DefaultTTL = 24 * time.Hour

// Priority is the class in which a call waits for the budget.
type Priority string

// The classes, from the first to be served to the last. The zero value is normal.
const (
	Urgent Priority = "urgent"
	Normal Priority = "normal"
	Bulk   Priority = "bulk"
)

// Delivery says what happens when nobody can know whether Telegram took a call:
// the Bot API has no idempotency key, so a lost answer leaves two bad choices.
type Delivery string

// The policies. The zero value is at-least-once.
const (
	// AtLeastOnce sends again and flags the result possible_duplicate.
	AtLeastOnce Delivery = "at-least-once"
	// AtMostOnce never sends again; the call ends dead with reason uncertain.
	AtMostOnce Delivery = "at-most-once"
)

// Call is one Bot API call to make. Only Method is required.
type Call struct {
	// Method is the Bot API method, such as "sendMessage".
	Method string `json:"method"`
	// Params are its parameters: a map, a struct of any Bot API library, or a
	// json.RawMessage, which is what it always is after it crossed the wire. It
	// must marshal to a JSON object, or be nil for none. The object
	// {"@file": "/path"} in place of a file uploads that file.
	Params any `json:"params,omitempty"`
	// Priority is the class it waits in. Default normal.
	Priority Priority `json:"priority,omitempty"`
	// Delivery is the policy for an unknown outcome. Default at-least-once.
	Delivery Delivery `json:"delivery,omitempty"`
	// TTL bounds the wait for delivery; past it the call ends expired. Default 24 h.
	TTL time.Duration `json:"ttl,omitempty"`
	// Key makes the call a message of its own, sent once however often it is asked for.
	Key string `json:"key,omitempty"`
	// At makes the call a message of its own that leaves at this time, not
	// before. Zero or past means now.
	At time.Time `json:"at,omitzero"`
	// Independent calls are sent even when an earlier call of the same update died.
	Independent bool `json:"independent,omitempty"`
	// Split cuts a text, or a caption, that is too long for one message into
	// several, which are sent one after the other. Their outcome is one.
	Split bool `json:"split,omitempty"`
	// PlainFallback sends a text once more without its parse_mode when Telegram
	// cannot parse it; the outcome is then flagged degraded.
	PlainFallback bool `json:"plain_fallback,omitempty"`
}

// UnmarshalJSON keeps the parameters as they were written, so that numbers
// beyond 2^53 and the order of keys survive every hop.
func (c *Call) UnmarshalJSON(data []byte) error {
	type plain Call
	wire := struct {
		*plain
		Params json.RawMessage `json:"params"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	c.Params = nil
	if len(wire.Params) > 0 && string(wire.Params) != "null" {
		c.Params = wire.Params
	}
	return nil
}

// Separate reports whether the call becomes a message workflow of its own
// instead of holding its update's turn.
func (c Call) Separate() bool { return c.Key != "" || !c.At.IsZero() }

// Lifetime is the TTL in force, the default filled in.
func (c Call) Lifetime() time.Duration {
	if c.TTL <= 0 {
		return DefaultTTL
	}
	return c.TTL
}

// AnswersQuery reports whether the call answers a query (answerCallbackQuery
// and the like). Such calls have a queue of their own and spend no budget.
func (c Call) AnswersQuery() bool {
	return len(c.Method) > 6 && strings.EqualFold(c.Method[:6], "answer")
}

// Object returns the parameters as a JSON object, "{}" for none. Characters
// such as < and & stay as they are. Workflows may ask for it: encoding/json is
// free of clock and chance and sorts the keys of maps.
//
//workflowcheck:ignore
func (c Call) Object() (json.RawMessage, error) {
	if raw, ok := c.Params.(json.RawMessage); ok && len(raw) > 0 {
		return raw, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.Params); err != nil {
		return nil, wordless(c.Params, err)
	}
	if object := bytes.TrimSpace(buf.Bytes()); string(object) != "null" {
		return object, nil
	}
	return json.RawMessage("{}"), nil
}

// Address is the chat that the call is for, "" for none.
//
//workflowcheck:ignore
func (c Call) Address() string {
	params, err := c.Object()
	if err != nil {
		return ""
	}
	return Address(params)
}

// Summary is what the Temporal UI shows beside a message of its own: method and
// chat, and no text.
func (c Call) Summary() string {
	if to := c.Address(); to != "" {
		return c.Method + " → chat " + to
	}
	return c.Method
}

// wordless names the type that does not marshal: the error of a value may quote it.
func wordless(params any, err error) error {
	if kind, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return kind
	}
	return fmt.Errorf("a value inside %T does not marshal to JSON", params)
}

// ErrNoChat is wrapped by Seal for a call addressed to chat 0: the update it
// answers belongs to no chat.
var ErrNoChat = errors.New("chat_id is 0: this update belongs to no chat")

var methodName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// Seal checks the call and returns it with its parameters in wire form. The
// errors name the field and never quote a parameter's value.
func (c Call) Seal() (Call, error) {
	if !methodName.MatchString(c.Method) {
		return c, fmt.Errorf("call: method %.40q is no Bot API method name", c.Method)
	}
	switch c.Priority {
	case "", Urgent, Normal, Bulk:
	default:
		return c, fmt.Errorf("call %s: priority %.20q is none of urgent, normal, bulk", c.Method, c.Priority)
	}
	switch c.Delivery {
	case "", AtLeastOnce, AtMostOnce:
	default:
		return c, fmt.Errorf("call %s: delivery %.20q is neither at-least-once nor at-most-once", c.Method, c.Delivery)
	}
	return c.sealParams()
}

func (c Call) sealParams() (Call, error) {
	raw, err := c.Object()
	if err != nil {
		return c, fmt.Errorf("call %s: params: %w", c.Method, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return c, fmt.Errorf("call %s: params are no JSON object", c.Method)
	}
	if id := string(fields["chat_id"]); id == "0" || id == `"0"` {
		return c, fmt.Errorf("call %s: %w", c.Method, ErrNoChat)
	}
	c.Params = raw
	return c, nil
}

// Hash tells two calls of one key apart: the SHA-256 of method, parameters and
// policy, defaults filled in. The time at which the call leaves is no part of it.
//
//workflowcheck:ignore
func (c Call) Hash() (string, error) {
	params, err := c.Object()
	if err != nil {
		return "", err
	}
	what, err := json.Marshal(Call{
		Method: c.Method, Params: params, TTL: c.Lifetime(),
		Priority: cmp.Or(c.Priority, Normal), Delivery: cmp.Or(c.Delivery, AtLeastOnce),
		Split: c.Split, PlainFallback: c.PlainFallback,
	})
	if err != nil {
		return "", fmt.Errorf("hash call: %w", err)
	}
	return CanonicalHash(what)
}

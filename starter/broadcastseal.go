package starter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

const (
	// rateLeast and rateMost bound a broadcast's own rate, in recipients a second.
	rateLeast = 0.001
	rateMost  = 1000
	// paidParam is what makes a call paid.
	paidParam = "allow_paid_broadcast"
)

var broadcastName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// CheckBroadcastName refuses a name that cannot stand in a workflow ID with the
// number of a part behind it.
func CheckBroadcastName(name string) error {
	if !broadcastName.MatchString(name) {
		return fmt.Errorf("name: want 1 to 100 letters, digits, dots, dashes and underscores, a letter or a digit first, got %.120q", name)
	}
	return nil
}

// Seal checks the broadcast and puts its call into wire form, in the class bulk.
// What is wrong with one recipient is a *RecipientError; the other errors are of
// the whole, and none quotes a parameter or a field. Fields that nothing is filled
// in with are left out. Start seals what is not, and it must not be changed since.
func (b *Broadcast) Seal() error {
	if err := CheckBroadcastName(b.Name); err != nil {
		return err
	}
	if rate := b.What.Rate; rate != 0 && !(rate >= rateLeast && rate <= rateMost) {
		return fmt.Errorf("rate: want %v to %v recipients a second, or 0 for no limit of its own, got %v", rateLeast, rateMost, rate)
	}
	if err := b.sealCall(); err != nil {
		return err
	}
	return b.sealRecipients()
}

func (b *Broadcast) sealCall() error {
	call, err := b.What.Call.Seal()
	if err != nil {
		return err
	}
	params, _ := call.Params.(json.RawMessage) // as Call.Seal leaves them
	var fields map[string]json.RawMessage
	err = json.Unmarshal(params, &fields)
	if err == nil {
		err = broadcastable(call, fields)
	}
	if err == nil {
		call.Priority = contract.Bulk
		call.Params, err = b.pay(call.Method, params, fields)
	}
	what := b.What
	what.Call = call
	if err == nil {
		err = checkSize(what)
	}
	if err != nil {
		return fmt.Errorf("call %s: %w", call.Method, err)
	}
	b.What = what
	return nil
}

// broadcastable refuses what cannot be made once for each recipient.
func broadcastable(call contract.Call, params map[string]json.RawMessage) error {
	method := telegram.Lookup(call.Method)
	switch {
	case method.Read || method.Answer:
		return errors.New("it reads, or answers one query: there is nothing in it to broadcast")
	case params["chat_id"] != nil:
		return errors.New("chat_id: each recipient's is put in, so the parameters must have none")
	case call.Priority != "" && call.Priority != contract.Bulk:
		return fmt.Errorf("priority: a broadcast is always %s", contract.Bulk)
	case call.Key != "" || !call.At.IsZero() || call.Independent:
		return errors.New("key, at and independent are of single calls")
	case call.Split:
		return errors.New("split: what a broadcast sends to a recipient is one message")
	}
	return nil
}

func checkSize(what contract.BroadcastCall) error {
	data, err := json.Marshal(what)
	if err == nil && len(data) > contract.CallBytes {
		err = fmt.Errorf("want at most %d bytes, got %d", contract.CallBytes, len(data))
	}
	return err
}

// pay makes the parameters and Paid say the same. Fields are the parameters by name.
func (b *Broadcast) pay(method string, params json.RawMessage, fields map[string]json.RawMessage) (json.RawMessage, error) {
	value, given := fields[paidParam]
	switch strings.ToLower(strings.Trim(string(value), `"`)) {
	case "true", "yes", "1": // as Telegram reads it
		b.Paid = true
	default:
		if given && b.Paid {
			return nil, errors.New(paidParam + ": it is among the parameters, and not true, in a broadcast that is to be paid for")
		}
	}
	switch {
	case !b.Paid:
		return params, nil
	case !telegram.Lookup(method).Payable:
		return nil, errors.New("Telegram takes no payment for this method: leave out that it is paid")
	case given:
		return params, nil
	default:
		return withMember(params, len(fields) > 0, `"`+paidParam+`":true`), nil
	}
}

// withMember is a JSON object with one more member at its end.
func withMember(object json.RawMessage, hasOthers bool, member string) json.RawMessage {
	open := bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}"))
	comma := ""
	if hasOthers {
		comma = ","
	}
	return json.RawMessage(string(open) + comma + member + "}")
}

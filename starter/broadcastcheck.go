package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/text"
)

// recipientBytes is how many bytes of JSON a recipient may be.
const recipientBytes = 16 << 10

// RecipientError is what is wrong with one recipient.
type RecipientError struct {
	// Index is its place among the recipients, from 0.
	Index int
	// Err quotes nothing of the recipient but its chat.
	Err error
}

// Error counts the recipients from 1.
func (e *RecipientError) Error() string { return fmt.Sprintf("recipient %d: %v", e.Index+1, e.Err) }

// Unwrap returns what is wrong.
func (e *RecipientError) Unwrap() error { return e.Err }

// sealRecipients checks each recipient, and what it will get, and cuts them into
// parts.
func (b *Broadcast) sealRecipients() error {
	if len(b.Recipients) == 0 {
		return errors.New("recipients: there are none")
	}
	fits, err := b.fitting()
	if err != nil {
		return err
	}
	c, err := newCutter(b.What)
	if err != nil {
		return err
	}
	first := make(map[string]int, len(b.Recipients))
	for i, r := range b.Recipients {
		data, err := checkRecipient(r)
		if err == nil {
			err = onlyOnce(first, r.Chat, i)
		}
		if err == nil {
			err = fits(r)
		}
		if err != nil {
			return &RecipientError{Index: i, Err: err}
		}
		c.add(data)
	}
	b.sealed = c.end(b.Recipients)
	return nil
}

// checkRecipient returns the recipient as JSON.
func checkRecipient(r contract.Recipient) (json.RawMessage, error) {
	chat, err := parseChat(r.Chat)
	if err == nil && chat != r.Chat {
		err = errors.New("there is white space around it")
	}
	if err != nil {
		return nil, fmt.Errorf("chat_id: %w", err)
	}
	data, err := json.Marshal(r)
	if err == nil && len(data) > recipientBytes {
		err = fmt.Errorf("want at most %d bytes with its fields, got %d", recipientBytes, len(data))
	}
	return data, err
}

// onlyOnce refuses a chat that an earlier recipient has. The case of a name does
// not count.
func onlyOnce(first map[string]int, chat string, i int) error {
	key := strings.ToLower(chat)
	if before, twice := first[key]; twice {
		return fmt.Errorf("chat_id: %s is that of recipient %d, too", chat, before+1)
	}
	first[key] = i
	return nil
}

// fitting returns what checks that a recipient can get its message. Without a
// template it is the same for all and checked here, and nobody needs fields.
func (b *Broadcast) fitting() (func(contract.Recipient) error, error) {
	params, _ := b.What.Call.Params.(json.RawMessage) // as Call.Seal leaves them
	if b.What.Template {
		template, err := text.ParseTemplate(params)
		if err != nil {
			return nil, fmt.Errorf("call %s: %w", b.What.Call.Method, err)
		}
		return func(r contract.Recipient) error {
			filled, err := template.Render(r.Fields)
			if err != nil {
				return err
			}
			return b.checkText(filled)
		}, nil
	}
	if err := b.checkText(params); err != nil {
		return nil, fmt.Errorf("call %s: %w", b.What.Call.Method, err)
	}
	b.Recipients = slices.Clone(b.Recipients)
	for i := range b.Recipients {
		b.Recipients[i].Fields = nil
	}
	return func(contract.Recipient) error { return nil }, nil
}

// checkText refuses a text, or a caption, of which it can be known here that
// Telegram refuses it.
func (b *Broadcast) checkText(params json.RawMessage) error {
	pieces, err := text.Split(b.What.Call.Method, params)
	switch {
	case errors.Is(err, text.ErrWhole) && parseMode(params) == "markdown":
		return nil // how long it is only Telegram can say
	case len(pieces) > 1:
		return errors.New("the text is too long: a message has 4096 characters at most, a caption 1024")
	default:
		return err
	}
}

// parseMode is that of a call, in lower case.
func parseMode(params json.RawMessage) string {
	var p struct {
		Mode string `json:"parse_mode"`
	}
	_ = json.Unmarshal(params, &p) // what is no string is Telegram's to refuse
	return strings.ToLower(p.Mode)
}

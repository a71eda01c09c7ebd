package contract

import (
	"encoding/json"
	"time"
)

// Update is one event as Telegram delivered it. Only the fields that order and
// address it are decoded; the rest stays in Raw, so that a kind or a field that
// did not exist when this was compiled reaches the handler unharmed.
type Update struct {
	// ID is Telegram's update_id. It names a delivery and is no counter to
	// compare with: ids restart at random after a week without updates.
	ID int64
	// Kind is the name of the one field beside update_id, such as "message" or
	// "callback_query". Empty when the update has no such field.
	Kind string
	// ChatID is the chat the update belongs to, 0 when it belongs to none (an
	// inline query, a poll answer, a button under an inline message).
	ChatID int64
	// UserID is the person who caused it, 0 when Telegram names none.
	UserID int64
	// Raw is the whole update, byte for byte as Telegram sent it.
	Raw json.RawMessage
	// ReceivedAt is when durabot fetched it, not when it happened.
	ReceivedAt time.Time
}

// Decode unmarshals the part of the update that its Kind names (for a message
// the Message object itself) into v, which may be a type of any Bot API library.
func (u Update) Decode(v any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(u.Raw, &fields); err != nil {
		return err
	}
	return json.Unmarshal(fields[u.Kind], v)
}

// Text is the text or the caption of the message that the update carries, in
// whichever of its kinds; "" when it carries none.
func (u Update) Text() string {
	var m struct {
		Text    string `json:"text"`
		Caption string `json:"caption"`
	}
	if u.Decode(&m) != nil {
		return ""
	}
	if m.Text != "" {
		return m.Text
	}
	return m.Caption
}

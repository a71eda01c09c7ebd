package starter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Route is where an update belongs.
type Route struct {
	UpdateID int64
	// Kind is the field beside update_id, "" for none.
	Kind   string
	ChatID int64 // 0 for none
	UserID int64 // 0 for none
	// OrderKey names the row of updates in which this one has its turn, "" for none.
	OrderKey string
	// CallbackID is the id of a callback query, "" for every other kind.
	CallbackID string
	// Date is when the event happened, zero where Telegram does not say.
	Date time.Time
	// MigratedTo is the supergroup that this chat has become, MigratedFrom the
	// group that this chat was; 0 for every other update (Bot API, "Message").
	MigratedTo, MigratedFrom int64
	// BotOut is a my_chat_member by which the bot was blocked, removed, or left.
	BotOut bool

	payment bool // carries a successful_payment
}

// ErrNoUpdateID is returned for an element of a batch that has no update_id:
// it cannot be stored under a name, and the offset cannot pass it.
var ErrNoUpdateID = errors.New("no update_id")

// ErrShape is wrapped for an update of a known kind that is not of its shape.
// Its Route holds the update_id and the kind.
var ErrShape = errors.New("update not of its kind's shape")

// kinds are the update kinds of Bot API 10.3 ("Getting updates"). True marks
// those whose chat is no chat of the bot's own, so that they must not share a
// row with a chat of the same id.
var kinds = map[string]bool{
	"message": false, "edited_message": false, "channel_post": false, "edited_channel_post": false,
	"business_connection": false, "business_message": true, "edited_business_message": true,
	"deleted_business_messages": true, "guest_message": true,
	"message_reaction": false, "message_reaction_count": false,
	"inline_query": false, "chosen_inline_result": false, "callback_query": false,
	"shipping_query": false, "pre_checkout_query": false, "purchased_paid_media": false,
	"poll": false, "poll_answer": false, "my_chat_member": false, "chat_member": false,
	"chat_join_request": false, "chat_boost": false, "removed_chat_boost": false,
	"managed_bot": false, "subscription": false, "stopped_message_generation": false,
}

// body is the part of an update's object that says where it belongs.
type body struct {
	ID         json.RawMessage `json:"id"`
	Chat       *ref            `json:"chat"`
	From       *ref            `json:"from"`
	User       *ref            `json:"user"`
	Message    *body           `json:"message"` // of a callback query
	Connection string          `json:"business_connection_id"`
	GuestQuery string          `json:"guest_query_id"`
	Date       integer         `json:"date"`
	EditDate   integer         `json:"edit_date"`
	Payment    json.RawMessage `json:"successful_payment"`
	MovedTo    integer         `json:"migrate_to_chat_id"`
	MovedFrom  integer         `json:"migrate_from_chat_id"`
	Member     json.RawMessage `json:"new_chat_member"`
}

type ref struct {
	ID integer `json:"id"`
}

// ParseRoute reads what is needed to store and order one update, and nothing
// else: an unknown kind or field is no error. It is a pure function.
func ParseRoute(raw json.RawMessage) (Route, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return Route{}, ErrNoUpdateID
	}
	id, ok := updateID(fields["update_id"])
	if !ok {
		return Route{}, ErrNoUpdateID
	}
	r := Route{UpdateID: id, Kind: kind(fields)}
	foreign, known := kinds[r.Kind]
	if !known {
		return r, nil
	}
	object := fields[r.Kind]
	var b body
	if !bytes.HasPrefix(object, []byte("{")) || json.Unmarshal(object, &b) != nil {
		return r, fmt.Errorf("%w: %s", ErrShape, r.Kind)
	}
	r.fill(b, foreign)
	return r, nil
}

// mostUpdateID bounds what is taken for an update_id, which is an int32 to
// Telegram, so that the offset past it cannot overflow.
const mostUpdateID = 1 << 53

// updateID refuses null and what is below 0: a negative offset would make
// Telegram delete its queue (Bot API, getUpdates).
func updateID(raw json.RawMessage) (int64, bool) {
	var id *integer
	if len(raw) == 0 || json.Unmarshal(raw, &id) != nil || id == nil {
		return 0, false
	}
	return int64(*id), *id >= 0 && *id < mostUpdateID
}

var kindName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// kind is the one field beside update_id. Should there be more, a known kind
// goes before a new field, and then the first by name. A null counts as absent,
// and so does a name that is none, for it goes into summaries and search
// attributes.
func kind(fields map[string]json.RawMessage) string {
	found := ""
	for name, value := range fields {
		if name == "update_id" || string(value) == "null" || !kindName.MatchString(name) {
			continue
		}
		if found == "" || before(name, found) {
			found = name
		}
	}
	return found
}

func before(a, b string) bool {
	_, knownA := kinds[a]
	_, knownB := kinds[b]
	if knownA != knownB {
		return knownA
	}
	return a < b
}

func (r *Route) fill(b body, foreign bool) {
	r.ChatID, r.UserID, r.payment = b.chat(), b.user(), len(b.Payment) > 0
	switch r.Kind {
	case "callback_query":
		_ = json.Unmarshal(b.ID, &r.CallbackID) // an id that is no string cannot be answered
	case "message":
		r.MigratedTo, r.MigratedFrom = int64(b.MovedTo), int64(b.MovedFrom)
	case "my_chat_member":
		r.BotOut = b.out()
	}
	if date := max(b.Date, b.EditDate); date > 0 {
		r.Date = time.Unix(int64(date), 0)
	}
	r.OrderKey = orderKey(*r)
	if foreign && r.ChatID != 0 {
		r.OrderKey = "business/" + b.Connection + b.GuestQuery + "/" + r.OrderKey
	}
}

func (b body) chat() int64 {
	switch {
	case b.Chat != nil:
		return int64(b.Chat.ID)
	case b.Message != nil && b.Message.Chat != nil:
		return int64(b.Message.Chat.ID)
	}
	return 0
}

func (b body) user() int64 {
	switch {
	case b.From != nil:
		return int64(b.From.ID)
	case b.User != nil:
		return int64(b.User.ID)
	}
	return 0
}

// out reports whether the new membership is none (Bot API, "ChatMember").
func (b body) out() bool {
	var member struct {
		Status string `json:"status"`
	}
	return json.Unmarshal(b.Member, &member) == nil && (member.Status == "kicked" || member.Status == "left")
}

// own reports whether the update shows that its chat is open to the bot itself.
func (r Route) own() bool { return r.ChatID != 0 && !kinds[r.Kind] }

// orderKey is the chat, else the user, else none.
func orderKey(r Route) string {
	switch {
	case r.ChatID != 0:
		return "chat/" + strconv.FormatInt(r.ChatID, 10)
	case r.UserID != 0:
		return "user/" + strconv.FormatInt(r.UserID, 10)
	}
	return ""
}

package telegramsim

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// updateKinds are the kinds of Bot API 10.3.
var updateKinds = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection",
	"business_message", "edited_business_message", "deleted_business_messages", "guest_message",
	"message_reaction", "message_reaction_count", "inline_query", "chosen_inline_result",
	"callback_query", "shipping_query", "pre_checkout_query", "purchased_paid_media", "poll",
	"poll_answer", "my_chat_member", "chat_member", "chat_join_request", "chat_boost",
	"removed_chat_boost", "managed_bot", "subscription", "stopped_message_generation",
}

// optIn are the kinds a bot gets only when it names them.
var optIn = []string{"chat_member", "message_reaction", "message_reaction_count"}

// How long updates wait for a poll: Client.cpp, add_new_inline_query and its
// neighbours.
const (
	callbackLife = 150 * time.Second
	inlineLife   = 30 * time.Second
	chosenLife   = 600 * time.Second
	updateLife   = 24 * time.Hour
)

// dateEdge is the oldest event date that is believed: fixtures write "date":1
// and still expect delivery, which a real server would refuse.
var dateEdge = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Push queues an update as given, adding update_id when it has none, and returns
// its id. An update_id the queue has passed already is served again under that
// id. Push returns 0 when the update was not queued: raw is no JSON object, its
// kind is not among allowed_updates, its event is too old, or the queue is full.
func (s *Sim) Push(raw json.RawMessage) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return 0
	}
	id, err := strconv.ParseInt(string(fields["update_id"]), 10, 64)
	if err != nil {
		fields["update_id"] = json.RawMessage(strconv.FormatInt(s.queue.next, 10))
		if raw, err = json.Marshal(fields); err != nil {
			return 0
		}
		id = s.queue.next
	}
	kind, event := kindOf(fields)
	return s.enqueue(id, kind, event, raw)
}

// PushRaw queues bytes that need not be an update, nor JSON: they appear as they
// are in the result of getUpdates, and as the body of a delivery to a webhook. They take the next update id, which is
// returned, and are confirmed by any offset above it.
func (s *Sim) PushRaw(raw []byte) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueue(s.queue.next, "", nil, slices.Clone(raw))
}

// kindOf is the update's only field beside its id, with its value. An update of
// a later Bot API may have more: then a kind we know decides, else the first by
// name, as the order of a map would filter the same update now and then only.
func kindOf(fields map[string]json.RawMessage) (string, json.RawMessage) {
	for _, name := range updateKinds {
		if value, has := fields[name]; has {
			return name, value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name != "update_id" {
			return name, fields[name]
		}
	}
	return "", nil
}

// deliver queues one event of a kind; 0 means it was filtered or dropped. A filtered
// update takes no id.
func (s *Sim) deliver(kind string, event any) int64 {
	id := s.queue.next
	payload, err := json.Marshal(event)
	if err != nil {
		return 0
	}
	raw, err := json.Marshal(map[string]any{"update_id": id, kind: json.RawMessage(payload)})
	if err != nil {
		return 0
	}
	return s.enqueue(id, kind, payload, raw)
}

// enqueue filters, queues and wakes a waiting poll or the webhook's courier; 0 means
// the update is gone.
func (s *Sim) enqueue(id int64, kind string, event json.RawMessage, raw []byte) int64 {
	now := time.Now()
	expires := expiry(kind, event, now)
	if !s.wanted(kind) || !now.Before(expires) {
		return 0
	}
	if kind == "callback_query" {
		s.rememberQuery(event, now)
	}
	if !s.queue.push(id, raw, expires) {
		return 0
	}
	s.wakePoll()
	s.wakeCourier()
	s.changed()
	return id
}

// wanted applies allowed_updates when an update is created, so a later change
// does not touch what is queued. Kinds unknown to Bot API 10.3 always pass.
func (s *Sim) wanted(kind string) bool {
	if !slices.Contains(updateKinds, kind) {
		return true
	}
	if s.queue.allowed == nil {
		return !slices.Contains(optIn, kind)
	}
	return slices.Contains(s.queue.allowed, kind)
}

// expiry follows the open server: counted from the event's own date, where the
// event has one.
func expiry(kind string, event json.RawMessage, now time.Time) time.Time {
	switch kind {
	case "callback_query", "shipping_query", "pre_checkout_query", "purchased_paid_media":
		return now.Add(callbackLife)
	case "inline_query":
		return now.Add(inlineLife)
	case "chosen_inline_result":
		return now.Add(chosenLife)
	}
	var dated struct {
		Date     int64 `json:"date"`
		EditDate int64 `json:"edit_date"`
	}
	if err := json.Unmarshal(event, &dated); err != nil {
		return now.Add(updateLife)
	}
	at := time.Unix(max(dated.Date, dated.EditDate), 0)
	if at.Before(dateEdge) {
		at = now
	}
	return at.Add(updateLife)
}

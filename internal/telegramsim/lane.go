package telegramsim

import (
	"encoding/json"
	"strconv"
	"strings"
)

// lane is a row of updates that reach a webhook one after the other. Lanes go side
// by side, so a user's text and button press may overtake each other.
type lane struct{ family, id string }

// laneRule says where an update of a kind has the id that makes its lane.
type laneRule struct {
	family string
	path   string // below the update's payload
}

// laneRules follow the webhook_queue_id of tdlib/telegram-bot-api (Client.cpp,
// add_update and its neighbors). The last two kinds are younger than the source.
var laneRules = map[string]laneRule{
	"message":                    {"chat", "chat.id"},
	"edited_message":             {"chat", "chat.id"},
	"channel_post":               {"chat", "chat.id"},
	"edited_channel_post":        {"chat", "chat.id"},
	"business_connection":        {"business owner", "user.id"},
	"business_message":           {"business chat", "chat.id"},
	"edited_business_message":    {"business chat", "chat.id"},
	"deleted_business_messages":  {"business chat", "chat.id"},
	"guest_message":              {"guest", "chat.id"},
	"message_reaction":           {"reaction", "chat.id"},
	"message_reaction_count":     {"reaction count", "chat.id"},
	"inline_query":               {"inline", "from.id"},
	"chosen_inline_result":       {"chosen", "from.id"},
	"callback_query":             {"callback", "from.id"},
	"shipping_query":             {"payment", "from.id"},
	"pre_checkout_query":         {"payment", "from.id"},
	"purchased_paid_media":       {"media", "from.id"},
	"poll":                       {"poll", "id"},
	"poll_answer":                {"poll", "poll_id"},
	"my_chat_member":             {"bot's membership", "chat.id"},
	"chat_member":                {"member", "new_chat_member.user.id"},
	"chat_join_request":          {"member", "from.id"},
	"chat_boost":                 {"boost", "chat.id"},
	"removed_chat_boost":         {"boost", "chat.id"},
	"managed_bot":                {"managed", "user.id"},
	"subscription":               {"subscription", "user.id"},
	"stopped_message_generation": {"stopped", "chat.id"},
}

// laneOf is an update's lane. One of unknown kind, without the id or no JSON at all
// has a lane for itself.
func laneOf(item queued) lane {
	alone := lane{id: strconv.FormatInt(item.serial, 10)}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(item.Raw, &fields); err != nil {
		return alone
	}
	kind, value := kindOf(fields)
	rule, known := laneRules[kind]
	if !known {
		return alone
	}
	for name := range strings.SplitSeq(rule.path, ".") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(value, &object); err != nil || object[name] == nil {
			return alone
		}
		value = object[name]
	}
	return lane{family: rule.family, id: strings.Trim(string(value), `"`)}
}

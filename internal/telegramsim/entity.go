package telegramsim

import (
	"cmp"
	"slices"
)

// Entity is something special about a part of a text, in the Bot API's words
// (MessageEntity). Offset and Length are in UTF-16 units; an entity is never empty.
type Entity struct {
	Type          string      `json:"type"`
	Offset        int         `json:"offset"`
	Length        int         `json:"length"`
	URL           string      `json:"url,omitempty"`             // of a text_link
	User          *EntityUser `json:"user,omitempty"`            // of a text_mention
	Language      string      `json:"language,omitempty"`        // of a pre; "" when none was named
	CustomEmojiID string      `json:"custom_emoji_id,omitempty"` // of a custom_emoji
	UnixTime      int64       `json:"unix_time,omitempty"`       // of a date_time, in seconds
	Format        string      `json:"date_time_format,omitempty"`
}

// EntityUser is whom a text_mention names. FirstName is as the simulator knows the
// user when the message is accepted.
type EntityUser struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
}

// priorities put entities of the same range in order, the outer one first (tdlib/td,
// MessageEntity::get_type_priority).
var priorities = map[string]int{
	"blockquote": 0, "expandable_blockquote": 0, "pre": 10, "code": 20, "text_link": 49, "text_mention": 49,
	"date_time": 50, "bold": 90, "italic": 91, "underline": 92, "strikethrough": 93, "spoiler": 94, "custom_emoji": 99,
}

// sortEntities puts outer entities in front of those inside them.
func sortEntities(list []Entity) {
	slices.SortStableFunc(list, func(a, b Entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length), priorities[a.Type]-priorities[b.Type])
	})
}

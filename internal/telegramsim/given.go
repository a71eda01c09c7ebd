package telegramsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
)

// foundTypes are those Telegram finds in a text by itself. It ignores them when a bot
// gives them.
var foundTypes = []string{
	"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number", "bank_card_number",
}

// neededFields are those that an entity of a type is nothing without.
var neededFields = map[string]string{
	"text_link": "url", "text_mention": "user", "custom_emoji": "custom_emoji_id", "date_time": "unix_time",
}

// givenEntities reads the entities a bot gives in place of markup. As on the real
// server, what is no JSON array is no entities.
func givenEntities(text, list string) ([]Entity, error) {
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(list), &items); err != nil {
		return nil, nil
	}
	var given []Entity
	borders := bordersOf(text)
	for _, item := range items {
		e, err := givenEntity(item)
		if err != nil {
			return nil, err
		}
		if slices.Contains(foundTypes, e.Type) {
			continue
		}
		if err := inside(borders, e); err != nil {
			return nil, err
		}
		if e.Length > 0 {
			given = append(given, e)
		}
	}
	sortEntities(given)
	return given, nil
}

// givenEntity reads one MessageEntity and keeps what its type uses.
func givenEntity(raw json.RawMessage) (Entity, error) {
	var fields map[string]json.RawMessage
	var e Entity
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(raw, &e) != nil {
		return e, errors.New("can't parse MessageEntity: expected an Object")
	}
	for _, name := range []string{"offset", "length", "type", neededFields[e.Type]} {
		if name != "" && fields[name] == nil {
			return e, fmt.Errorf("can't parse MessageEntity: Can't find field %q", name)
		}
	}
	_, known := priorities[e.Type]
	if !known && !slices.Contains(foundTypes, e.Type) {
		return e, errors.New("can't parse MessageEntity: Unsupported type specified")
	}
	return e.used()
}

// used drops the fields that the type does not have, and refuses one without what it
// needs.
func (e Entity) used() (Entity, error) {
	kept := Entity{Type: e.Type, Offset: e.Offset, Length: e.Length}
	switch e.Type {
	case "text_link":
		link, err := checkedLink(e.URL)
		if err != nil {
			return e, fmt.Errorf("entity URL '%s' is invalid: %w", e.URL, err)
		}
		kept.URL = link
	case "text_mention":
		if e.User == nil || e.User.ID <= 0 {
			return e, errors.New("user not found")
		}
		kept.User = &EntityUser{ID: e.User.ID}
	case "pre":
		kept.Language = e.Language
	case "custom_emoji":
		if !isCustomEmoji(e.CustomEmojiID) {
			return e, errors.New("invalid custom emoji identifier specified")
		}
		kept.CustomEmojiID = e.CustomEmojiID
	case "date_time":
		kept.UnixTime, kept.Format = e.UnixTime, e.Format
	}
	return kept, nil
}

// isCustomEmoji says whether an id is a number in its one spelling.
func isCustomEmoji(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n != 0 && strconv.FormatInt(n, 10) == id
}

// bordersOf holds for each UTF-16 unit of a text, and for its end, the byte at which a
// code point begins there; -1 for the second half of a pair.
func bordersOf(text string) []int {
	borders := make([]int, 0, len(text)+1)
	for at, r := range text {
		borders = append(borders, at)
		if utf16.RuneLen(r) == 2 {
			borders = append(borders, -1)
		}
	}
	return append(borders, len(text))
}

// inside holds an entity to the text, in TDLib's words (fix_formatted_text). The real
// server looks at the chat first.
func inside(borders []int, e Entity) error {
	const farthest = 1_000_000
	end, size := e.Offset+e.Length, len(borders)-1
	switch {
	case e.Offset < 0 || e.Offset > farthest:
		return fmt.Errorf("receive an entity with incorrect offset %d", e.Offset)
	case e.Length < 0 || e.Length > farthest:
		return fmt.Errorf("receive an entity with incorrect length %d", e.Length)
	case e.Length == 0:
		return nil
	case e.Offset > size:
		return fmt.Errorf("entity begins after the end of the text at UTF-16 offset %d", e.Offset)
	case borders[e.Offset] < 0:
		return fmt.Errorf("entity begins in a middle of a UTF-16 symbol at byte offset %d", borders[e.Offset+1])
	case end > size:
		return fmt.Errorf("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, end)
	case borders[end] < 0:
		return fmt.Errorf("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at byte offset %d", e.Offset, borders[end+1])
	}
	return nil
}

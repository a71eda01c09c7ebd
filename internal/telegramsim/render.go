package telegramsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// render is the message as the Bot API shows it, as of now: an update that was queued
// earlier keeps the bytes it had. Of keyboards only inline ones are shown, for the
// Bot API gives back no other (Message.reply_markup).
func (s *Sim) render(m *Message) map[string]any {
	ch := s.chats[m.ChatID]
	o := map[string]any{"message_id": m.ID, "date": m.Time.Unix(), "chat": ch.object(), "from": s.sender(m)}
	maps.Copy(o, m.Service)
	s.renderContent(m, o)
	if len(m.Edits) > 0 {
		o["edit_date"] = m.Edits[len(m.Edits)-1].Time.Unix()
	}
	if strings.HasPrefix(string(m.Markup), `{"inline_keyboard"`) {
		o["reply_markup"] = m.Markup
	}
	if m.Album != "" {
		o["media_group_id"] = m.Album
	}
	if replied := ch.byID[m.ReplyTo]; replied != nil {
		o["reply_to_message"] = map[string]any{
			"message_id": replied.ID, "date": replied.Time.Unix(), "chat": ch.object(), "from": s.sender(replied), "text": replied.Text,
		}
	}
	return o
}

func (s *Sim) sender(m *Message) map[string]any {
	if m.FromBot {
		return s.botUser()
	}
	return s.user(m.FromID)
}

// renderContent adds the text, or the media object with its caption. Items of an
// album get their media object from the call that made them, which knows the
// type of each.
func (s *Sim) renderContent(m *Message, o map[string]any) {
	field, isMedia := mediaField(m)
	switch {
	case isMedia && m.Album == "":
		o[field] = s.mediaObject(field, m)
		fallthrough
	case m.Album != "":
		if m.Text != "" {
			o["caption"] = m.Text
			addEntities(o, "caption_entities", m.Entities)
		}
	case m.Text != "":
		o["text"] = m.Text
		addEntities(o, "entities", m.Entities)
	}
}

func addEntities(o map[string]any, field string, entities []Entity) {
	if len(entities) > 0 {
		o[field] = entities
	}
}

// mediaField is the message field that a send method, or a user's file, fills;
// false for text.
func mediaField(m *Message) (string, bool) {
	name, isSend := strings.CutPrefix(strings.ToLower(m.Method), "send")
	switch {
	case m.FileID != "" && !m.FromBot:
		return m.Files[0].Field, true
	case !isSend || name == "message" || name == "mediagroup":
		return "", false
	case name == "videonote":
		return "video_note", true
	default:
		return name, true
	}
}

// noFiles are the media that are no files.
var noFiles = []string{"dice", "location", "venue", "contact", "poll", "invoice", "game"}

func isFile(field string) bool { return !slices.Contains(noFiles, field) }

// mediaObject is a stand-in with the fields clients decode. What it says of size and
// shape is made up, save for names and lengths of files.
func (s *Sim) mediaObject(field string, m *Message) any {
	switch {
	case field == "dice":
		return map[string]any{"emoji": cmp.Or(m.Params["emoji"], "🎲"), "value": 1 + m.Seq%6}
	case !isFile(field):
		return recorded(m)
	}
	file := map[string]any{"file_id": m.FileID, "file_unique_id": uniqueID(m.FileID)}
	if len(m.Files) > 0 {
		file["file_name"], file["file_size"] = m.Files[0].Name, m.Files[0].Size
	}
	if field == "photo" {
		delete(file, "file_name") // a PhotoSize has none
		file["width"], file["height"] = 640, 480
		return []any{file}
	}
	return file
}

// recorded shows a call's own parameters as the object they describe.
func recorded(m *Message) map[string]any {
	o := map[string]any{"id": fmt.Sprintf("sim-%d", m.Seq)}
	for name, value := range m.Params {
		switch {
		case name == "chat_id" || name == "reply_markup" || name == "reply_parameters":
		case json.Valid([]byte(value)):
			o[name] = json.RawMessage(value)
		default:
			o[name] = value
		}
	}
	return o
}

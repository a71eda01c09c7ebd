package telegramsim

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Message is one message of a chat, sent by the bot or by a user.
type Message struct {
	// Seq orders the messages of all chats by acceptance, from 1.
	Seq    int64
	ID     int64
	ChatID int64
	// FromID is the sender's user id; the bot's own messages have FromBot set.
	FromID  int64
	FromBot bool
	// Method is the Bot API method that made it, as Telegram spells it when the
	// simulator knows it, else as sent. Empty for what a user wrote.
	Method string
	// Text is the text or caption as it is now, without markup.
	Text string
	// Entities are those of Text, as they are now: what markup said, or the bot's own.
	Entities []Entity
	// Params are the call's parameters as text; JSON values keep their JSON.
	Params map[string]string
	Files  []File
	// FileID is the file_id of its photo, document or other media; "" without any.
	FileID string
	// Album groups messages of one sendMediaGroup call; "" outside albums.
	Album   string
	ReplyTo int64 // 0 when it is no reply
	Markup  json.RawMessage
	Time    time.Time
	Edits   []Edit
	// Deleted is when the bot deleted it; zero while it stands.
	Deleted time.Time
	// UpdateID is the update by which the bot hears of what a user wrote; 0 when
	// none was queued, and for the bot's own.
	UpdateID int64
	// Service holds extra fields of a service message, such as migrate_to_chat_id.
	Service map[string]any
}

// Edit is one accepted change of a message.
type Edit struct {
	Time time.Time
	Text string // after the edit
}

// File is an uploaded file. Its bytes are kept apart, for getFile: 64 MiB of all
// files together and in memory only.
type File struct {
	Field string // name of the form field
	Name  string
	Size  int64
}

// Ledger lists every message the bot had accepted in a chat, in order, deleted
// ones included; 0 lists those of all chats. The copies are the caller's.
func (s *Sim) Ledger(chatID int64) []Message {
	return s.history(chatID, func(m *Message) bool { return m.FromBot })
}

// Accepted is how many messages of the bot were accepted since New. Unlike
// Ledger it copies nothing, so a load can be followed without adding to it.
func (s *Sim) Accepted() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Messages lists everything said in a chat, by bot and users; 0 lists all chats.
func (s *Sim) Messages(chatID int64) []Message {
	return s.history(chatID, func(*Message) bool { return true })
}

func (s *Sim) history(chatID int64, keep func(*Message) bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Message
	for _, id := range s.order {
		if chatID != 0 && id != chatID {
			continue
		}
		for _, m := range s.chats[id].messages {
			if keep(m) {
				list = append(list, m.clone())
			}
		}
	}
	slices.SortFunc(list, func(a, b Message) int { return int(a.Seq - b.Seq) })
	return list
}

// clone is safe to hand out: what may still change is copied. Entities, Files, Markup
// and Service are replaced as a whole when they change, never written to.
func (m *Message) clone() Message {
	c := *m
	c.Edits = slices.Clone(m.Edits)
	c.Params = maps.Clone(m.Params)
	return c
}

// store appends a message to its chat and gives it its ids.
func (s *Sim) store(ch *chat, m *Message) *Message {
	ch.lastID++
	s.seq++
	m.Seq, m.ID, m.ChatID, m.Time = s.seq, ch.lastID, ch.ID, time.Now()
	ch.messages = append(ch.messages, m)
	ch.byID[m.ID] = m
	s.changed()
	return m
}

// live finds a message that has not been deleted, nil when there is none. To every
// method a deleted message is one that never was.
func (c *chat) live(id int64) *Message {
	m := c.byID[id]
	if m == nil || !m.Deleted.IsZero() {
		return nil
	}
	return m
}

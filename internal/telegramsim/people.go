package telegramsim

import (
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"
)

// query is a callback query that may be answered once.
type query struct {
	At       time.Time `json:"at"`
	Answered bool      `json:"answered"`
}

// SendText lets a user write in a chat and returns the update's id, 0 when no
// update was queued (see Push). An unknown chat is made: positive ids are
// private chats, negative ones groups with one made-up member. A user who had
// blocked the bot, or never started it, unblocks it first; a migrated group's
// text arrives in its supergroup.
func (s *Sim) SendText(chatID int64, text string) int64 {
	return s.SendTextFrom(chatID, 0, text)
}

// SendTextFrom is SendText with a sender of choice; 0 is the chat's own member.
func (s *Sim) SendTextFrom(chatID, userID int64, text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hear(chatID, &Message{FromID: userID, Text: text})
}

// SendFile lets a user send a file in a chat, as SendText does a text, and
// returns the update's id. Names in .jpg, .jpeg, .png and .webp make a photo,
// others a document. The bot may fetch the bytes, which are copied, with getFile.
func (s *Sim) SendFile(chatID int64, name string, data []byte) int64 {
	f := File{Field: "document", Name: name, Size: int64(len(data))}
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".webp":
		f.Field = "photo"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{Files: []File{f}, FileID: s.newFileID()}
	s.files.keep(m.FileID, f, append([]byte{}, data...))
	return s.hear(chatID, m)
}

// hear stores what somebody said, by default the chat's member, and tells the
// bot.
func (s *Sim) hear(chatID int64, m *Message) int64 {
	ch := s.ensureChat(chatID)
	if ch.State == ChatMigrated {
		ch = s.ensureChat(ch.MovedTo)
	}
	if ch.State != ChatOpen && ch.State != ChatKicked {
		s.setState(ch, ChatOpen)
	}
	if m.FromID == 0 {
		m.FromID = ch.member()
	}
	s.store(ch, m)
	ch.unread = 0
	if ch.State != ChatKicked { // a group talks on, but a bot outside of it does not hear it
		m.UpdateID = s.deliver("message", s.render(m))
	}
	s.emitMessage("user", m)
	return m.UpdateID
}

// PressButton lets the chat's member press a button with this callback data
// under a message, and returns the update's id, 0 when the message is unknown
// or no update was queued. Each press is a new query, as a real one is.
func (s *Sim) PressButton(chatID, messageID int64, data string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[chatID]
	if ch == nil || ch.live(messageID) == nil {
		return 0
	}
	ch.unread = 0
	s.emit(Event{Type: "press", ChatID: chatID, MessageID: messageID, Text: data})
	return s.deliver("callback_query", map[string]any{
		"id":            strconv.FormatUint(s.rng.Uint64()>>1, 10),
		"from":          s.user(ch.member()),
		"message":       s.render(ch.live(messageID)),
		"chat_instance": strconv.FormatInt(-chatID*7919, 10),
		"data":          data,
	})
}

// rememberQuery notes a callback query so that it can be answered once. Old ones go
// with each new one, which bounds the map by the presses of 150 s.
func (s *Sim) rememberQuery(event json.RawMessage, now time.Time) {
	var q struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(event, &q); err != nil || q.ID == "" {
		return
	}
	for id, old := range s.queries {
		if now.Sub(old.At) > callbackLife {
			delete(s.queries, id)
		}
	}
	s.queries[q.ID] = query{At: now}
}

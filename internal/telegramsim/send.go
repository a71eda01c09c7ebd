package telegramsim

import (
	"encoding/json"
	"time"
)

// typingLife is how long an action is shown (Bot API docs, sendChatAction).
const typingLife = 5 * time.Second

// sendMessage needs a text.
func (s *Sim) sendMessage(c *call) *answer {
	return s.send(c, s.checkText)
}

// sendAny takes every other send method: it is recorded with all its parameters
// and nothing but the caption and markup is checked.
func (s *Sim) sendAny(c *call) *answer {
	return s.send(c, s.checkCaption)
}

// send checks in the order of the real server: chat, content, reply, limits.
// What fails before the limits spends nothing.
func (s *Sim) send(c *call, check func(string) *answer) *answer {
	ch, a := s.writable(c)
	if a != nil {
		return a
	}
	if a := check(c.content.Text); a != nil {
		return a
	}
	m := s.draft(c, c.content)
	if a := s.reply(c, ch, m); a != nil {
		return a
	}
	if a := s.admit(c, ch, 1); a != nil {
		return a
	}
	if field, isMedia := mediaField(m); isMedia && isFile(field) {
		s.attach(c, m, field, c.params[field])
	}
	s.accept(ch, m)
	return ok(s.render(m))
}

// draft is the message a call asks for, not yet stored.
func (s *Sim) draft(c *call, content Formatted) *Message {
	m := &Message{
		FromID: s.botID, FromBot: true, Method: c.entry.Method,
		Text: content.Text, Entities: content.Entities, Params: c.params, Files: c.files,
	}
	if markup := c.params["reply_markup"]; json.Valid([]byte(markup)) {
		m.Markup = json.RawMessage(markup)
	}
	return m
}

// accept stores a message of the bot. From here on it was sent, whatever becomes of
// the answer. "Typing" ends with it, as it does in the apps.
func (s *Sim) accept(ch *chat, m *Message) {
	s.store(ch, m)
	s.accepted++
	ch.unread++
	ch.typing = time.Time{}
	s.emitMessage("message", m)
}

// reply resolves the message a call replies to.
func (s *Sim) reply(c *call, ch *chat, m *Message) *answer {
	var to struct {
		MessageID int64 `json:"message_id"`
		Lenient   bool  `json:"allow_sending_without_reply"`
	}
	if raw := c.params["reply_parameters"]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &to); err != nil {
			return badRequest("can't parse reply parameters: " + "Can't parse reply parameters JSON object")
		}
	} else {
		to.MessageID, _ = c.integer("reply_to_message_id")
		to.Lenient = c.flag("allow_sending_without_reply")
	}
	switch {
	case to.MessageID == 0:
		return nil
	case ch.live(to.MessageID) != nil:
		m.ReplyTo = to.MessageID
		return nil
	case to.Lenient:
		return nil
	}
	return badRequest("message to be replied not found")
}

// sendChatAction spends the same budget as a message: that is how a bot that
// shows "typing" too often earns a 429.
func (s *Sim) sendChatAction(c *call) *answer {
	ch, a := s.writable(c)
	if a != nil {
		return a
	}
	if c.params["action"] == "" {
		return badRequest("wrong parameter action in request")
	}
	if a := s.admit(c, ch, 1); a != nil {
		return a
	}
	ch.typing = time.Now().Add(typingLife)
	s.emit(Event{Type: "typing", ChatID: ch.ID, Text: c.params["action"], Until: ch.typing})
	return ok(true)
}

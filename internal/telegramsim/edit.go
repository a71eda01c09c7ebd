package telegramsim

import (
	"encoding/json"
	"reflect"
	"time"
)

const notModified = "message is not modified: specified new message content and reply markup are exactly the same " +
	"as a current content and reply markup of the message"

// deleteAge is how long the bot may delete a message.
const deleteAge = 48 * time.Hour

// edit is editMessageText, Caption, ReplyMarkup and Media. The budget is spent
// before content is compared, as only the back end knows the content.
func (s *Sim) edit(c *call) *answer {
	// An inline message belongs to a chat the bot does not see: the real method
	// answers true as well, and no chat's budget is known to be spent.
	if c.params["inline_message_id"] != "" {
		return ok(true)
	}
	ch, a := s.readable(c)
	if a != nil {
		return a
	}
	if a := ch.refusal(); a != nil {
		return a
	}
	id, _ := c.integer("message_id")
	m := ch.live(id)
	switch {
	case m == nil:
		return badRequest("message to edit not found")
	case !m.FromBot:
		return badRequest("message can't be edited")
	}
	content, a := s.edited(c, m)
	if a != nil {
		return a
	}
	if a := s.admit(c, ch, 1); a != nil {
		return a
	}
	return s.applyEdit(c, m, content)
}

// edited is what the message will say.
func (s *Sim) edited(c *call, m *Message) (Formatted, *answer) {
	switch c.method {
	case "editmessagetext":
		return c.content, s.checkText(c.content.Text)
	case "editmessagecaption":
		return c.content, s.checkCaption(c.content.Text)
	case "editmessagemedia":
		var item mediaItem
		if err := json.Unmarshal([]byte(c.params["media"]), &item); err != nil {
			return Formatted{}, badRequest("can't parse media JSON object")
		}
		return s.caption(item)
	default:
		return Formatted{Text: m.Text, Entities: m.Entities}, nil
	}
}

// applyEdit refuses an edit that changes nothing, as a repeated one does. An
// edit without reply_markup removes the keyboard. Media always counts as new.
func (s *Sim) applyEdit(c *call, m *Message, content Formatted) *answer {
	markup := c.params["reply_markup"]
	same := content.Text == m.Text && markup == string(m.Markup) && reflect.DeepEqual(content.Entities, m.Entities)
	if same && c.method != "editmessagemedia" {
		return badRequest(notModified)
	}
	m.Text, m.Entities, m.Markup = content.Text, content.Entities, nil
	if json.Valid([]byte(markup)) {
		m.Markup = json.RawMessage(markup)
	}
	m.Edits = append(m.Edits, Edit{Time: time.Now(), Text: content.Text})
	s.emitMessage("edited", m)
	s.changed()
	return ok(s.render(m))
}

// deleteMessage deletes any message of the chat younger than 48 h.
func (s *Sim) deleteMessage(c *call) *answer {
	ch, a := s.writable(c)
	if a != nil {
		return a
	}
	id, _ := c.integer("message_id")
	m := ch.live(id)
	switch {
	case m == nil:
		return badRequest("message to delete not found")
	case time.Since(m.Time) > deleteAge:
		return badRequest("message can't be deleted for everyone")
	}
	s.remove(m)
	return ok(true)
}

// deleteMessages skips what it cannot find, as the real method does: true may mean
// that nothing was deleted. Age is not looked at, for the same reason.
func (s *Sim) deleteMessages(c *call) *answer {
	ch, a := s.writable(c)
	if a != nil {
		return a
	}
	var ids []int64
	if err := json.Unmarshal([]byte(c.params["message_ids"]), &ids); err != nil || len(ids) == 0 {
		return badRequest("message identifiers are not specified")
	}
	for _, id := range ids {
		if m := ch.live(id); m != nil {
			s.remove(m)
		}
	}
	return ok(true)
}

// remove marks a message. It stays in the ledger, which is the record of what the
// bot did and not of what can be seen.
func (s *Sim) remove(m *Message) {
	m.Deleted = time.Now()
	s.emitMessage("deleted", m)
	s.changed()
}

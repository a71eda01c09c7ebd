package telegramsim

import (
	"encoding/json"
	"strconv"
	"strings"
)

// mediaItem is an InputMedia as far as it is looked at. Media is a file_id, an
// address, or "attach://" and the name of a part of the request.
type mediaItem struct {
	Type    string `json:"type"`
	Media   string `json:"media"`
	Caption string `json:"caption"`
	// Mode and Entities are of the caption.
	Mode     string          `json:"parse_mode"`
	Entities json.RawMessage `json:"caption_entities"`
}

// caption reads an item's caption.
func (s *Sim) caption(item mediaItem) (Formatted, *answer) {
	content, err := s.format(item.Caption, item.Mode, string(item.Entities))
	if err != nil {
		return Formatted{}, badRequest(err.Error())
	}
	return content, s.checkCaption(content.Text)
}

// sendMediaGroup takes 2 to 10 items or none: a partial album, which the real
// server can leave behind, is a FaultStatusAfter with its 400 here.
func (s *Sim) sendMediaGroup(c *call) *answer {
	ch, a := s.writable(c)
	if a != nil {
		return a
	}
	var media []mediaItem
	if err := json.Unmarshal([]byte(c.params["media"]), &media); err != nil {
		return badRequest("can't parse media JSON object")
	}
	switch {
	case len(media) < 2:
		return badRequest("too few messages to send as an album")
	case len(media) > 10:
		return badRequest("too much messages to send as an album")
	}
	captions := make([]Formatted, len(media))
	for i, item := range media {
		if captions[i], a = s.caption(item); a != nil {
			return a
		}
	}
	var parent Message
	if a := s.reply(c, ch, &parent); a != nil {
		return a
	}
	if a := s.admit(c, ch, len(media)); a != nil {
		return a
	}
	return s.acceptAlbum(c, ch, media, captions, parent.ReplyTo)
}

// acceptAlbum stores one message per item, bound by a common album id. Their ids are
// neighbours, since nobody else gets the lock between them.
func (s *Sim) acceptAlbum(c *call, ch *chat, media []mediaItem, captions []Formatted, replyTo int64) *answer {
	album := strconv.FormatUint(s.rng.Uint64()>>1, 10)
	list := make([]any, 0, len(media))
	for i, item := range media {
		m := s.draft(c, captions[i])
		m.Album, m.ReplyTo = album, replyTo
		s.attach(c, m, item.Type, item.Media)
		s.accept(ch, m)
		o := s.render(m)
		delete(o, "text")
		o[item.Type] = s.mediaObject(item.Type, m)
		list = append(list, o)
	}
	return ok(list)
}

// forward is forwardMessage and copyMessage.
func (s *Sim) forward(c *call) *answer {
	id, _ := c.integer("message_id")
	ch, found, a := s.sources(c, []int64{id})
	switch {
	case a != nil:
		return a
	case len(found) == 0:
		return badRequest("message to " + verb(c) + " not found")
	}
	if a := s.checkCaption(c.content.Text); a != nil {
		return a
	}
	if a := s.admit(c, ch, 1); a != nil {
		return a
	}
	m := s.duplicate(c, ch, found[0])
	if verb(c) == "copy" {
		return ok(map[string]any{"message_id": m.ID})
	}
	return ok(s.render(m))
}

// forwardMany is forwardMessages and copyMessages: unknown ids are skipped, and
// only when none is left is it an error.
func (s *Sim) forwardMany(c *call) *answer {
	var ids []int64
	if err := json.Unmarshal([]byte(c.params["message_ids"]), &ids); err != nil || len(ids) == 0 {
		return badRequest("message identifiers are not specified")
	}
	ch, found, a := s.sources(c, ids)
	switch {
	case a != nil:
		return a
	case len(found) == 0:
		return badRequest("messages to " + verb(c) + " not found")
	}
	if a := s.admit(c, ch, len(found)); a != nil {
		return a
	}
	list := make([]any, 0, len(found))
	for _, source := range found {
		list = append(list, map[string]any{"message_id": s.duplicate(c, ch, source).ID})
	}
	return ok(list)
}

// sources finds the chat to write to and the messages that exist.
func (s *Sim) sources(c *call, ids []int64) (*chat, []*Message, *answer) {
	ch, a := s.writable(c)
	if a != nil {
		return nil, nil, a
	}
	from := s.chats[s.chatID(c.params["from_chat_id"])]
	if from == nil {
		return nil, nil, badRequest("chat not found")
	}
	var found []*Message
	for _, id := range ids {
		if m := from.live(id); m != nil {
			found = append(found, m)
		}
	}
	return ch, found, nil
}

// duplicate makes the forwarded or copied message, of which only the text is kept:
// a copy of a photo shows its caption and no photo.
func (s *Sim) duplicate(c *call, ch *chat, source *Message) *Message {
	content := Formatted{Text: source.Text, Entities: source.Entities}
	if _, replaced := c.params["caption"]; replaced {
		content = c.content
	}
	m := s.draft(c, content)
	s.accept(ch, m)
	return m
}

func verb(c *call) string {
	if strings.HasPrefix(c.method, "copy") {
		return "copy"
	}
	return "forward"
}

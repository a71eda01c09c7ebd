package telegramsim

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Sizes of the Bot API docs (sendMessage, sendPhoto), without markup, and of the open
// server (Client.cpp, get_formatted_text), with it.
const (
	maxText    = 4096
	maxCaption = 1024
	maxMarkup  = 1 << 15 // bytes
)

// readContent reads what a call says. As on the real server markup comes before the
// chat: a mistake in it shows even when the chat does not exist. No method takes broken
// markup, whatever the simulator makes of the field.
func (s *Sim) readContent(c *call) *answer {
	mode := c.params["parse_mode"]
	caption, err := s.format(c.params["caption"], mode, c.params["caption_entities"])
	if err != nil {
		return badRequest(err.Error())
	}
	text, err := s.format(c.params["text"], mode, c.params["entities"])
	if err != nil {
		return badRequest(err.Error())
	}
	c.content = caption
	if c.method == "sendmessage" || c.method == "editmessagetext" {
		c.content = text
	}
	if err := c.checkFields(); err != nil {
		return badRequest(err.Error())
	}
	return nil
}

// checkFields reads the markup of fields that have a parse mode of their own, such as
// question and question_parse_mode, and of a poll's options. What it says is recorded as
// sent.
func (c *call) checkFields() error {
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		field, isMode := strings.CutSuffix(name, "_parse_mode")
		if !isMode {
			continue
		}
		if _, err := ParseText(c.params[field], c.params[name]); err != nil {
			return err
		}
	}
	var options []struct {
		Text string `json:"text"`
		Mode string `json:"text_parse_mode"`
	}
	if json.Unmarshal([]byte(c.params["options"]), &options) != nil {
		return nil // plain texts, or none
	}
	for _, o := range options {
		if _, err := ParseText(o.Text, o.Mode); err != nil {
			return err
		}
	}
	return nil
}

// format reads markup, or puts entities on a text without: a parse mode wins, as on the
// real server. Users that are mentioned get their names.
func (s *Sim) format(text, mode, entities string) (Formatted, error) {
	if len(text) > maxMarkup {
		return Formatted{}, errors.New("text is too long")
	}
	f, err := Formatted{Text: text}, error(nil)
	if text == "" || mode == "" || strings.EqualFold(mode, "none") {
		f.Entities, err = givenEntities(text, entities)
	} else {
		f, err = ParseText(text, mode)
	}
	for _, e := range f.Entities {
		if e.User != nil {
			e.User.FirstName = s.firstName(e.User.ID)
		}
	}
	return f, err
}

// checkText refuses a text that is blank or too long without its markup.
func (s *Sim) checkText(text string) *answer {
	switch {
	case strings.TrimSpace(text) == "":
		return badRequest("message text is empty")
	case s.length(text) > maxText:
		return badRequest("message is too long")
	}
	return nil
}

// checkCaption allows an empty caption, unlike a text.
func (s *Sim) checkCaption(caption string) *answer {
	if s.length(caption) > maxCaption {
		return badRequest("message caption is too long")
	}
	return nil
}

// length counts code points, as TDLib does for bots (MessageContent.cpp): neither bytes
// nor, unless the limits say so, the UTF-16 units that entity offsets are in.
func (s *Sim) length(text string) int {
	if s.limits.UTF16 {
		return len(utf16.Encode([]rune(text)))
	}
	return utf8.RuneCountInString(text)
}

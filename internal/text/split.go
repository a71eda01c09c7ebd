package text

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// Piece is a call that sends one piece of a text.
type Piece struct {
	// Method is that of the call that was cut, or sendMessage for what follows a caption.
	Method string
	// Params are its parameters, a JSON object.
	Params json.RawMessage
}

// along are the parameters that say where and how every piece is sent. A reply and
// an effect are of the first piece alone, buttons of the last.
var along = []string{
	"chat_id", "message_thread_id", "direct_messages_topic_id", "business_connection_id",
	"receiver_user_id", "callback_query_id", "ephemeral_message_parameters",
	"disable_notification", "protect_content", "allow_paid_broadcast",
	"link_preview_options", "disable_web_page_preview",
}

// Split cuts the text of a call, or its caption, into pieces that Telegram takes,
// to be sent one after the other. A call without a text, and one whose text fits,
// is returned alone and as it is. A caption may have 1024 code points, a text, and
// what follows a caption, 4096.
//
// The pieces of a text that was cut carry entities and no parse_mode. Markup is read
// only where the limit is passed if it counts, and a mistake in it is a
// MarkupError. The other errors wrap ErrEmpty, ErrUTF8, ErrEntities, or ErrWhole
// for what is too long and cannot be cut: an edit, an album, a draft, the old
// Markdown.
func Split(method string, raw json.RawMessage) ([]Piece, error) {
	p, err := readParams(raw)
	if err != nil {
		return nil, err
	}
	name, whole := strings.ToLower(method), []Piece{{Method: method, Params: raw}}
	edit := strings.HasPrefix(name, "edit")
	switch {
	case name == "sendmessage":
		return textField.split(whole, p)
	case edit && strings.HasSuffix(name, "text"), name == "sendmessagedraft":
		return whole, textField.check(p)
	case edit && strings.HasSuffix(name, "media"), name == "sendmediagroup":
		return whole, checkMedia(p["media"])
	case edit:
		return whole, captionField.check(p)
	default:
		return captionField.split(whole, p)
	}
}

// check is an error if the text must be one message and is too long.
func (f field) check(p params) error {
	m, ok, err := f.read(p)
	if err != nil || !ok {
		return err
	}
	return m.whole()
}

// checkMedia checks the captions of an album, or of the media that take the place
// of others.
func checkMedia(raw json.RawMessage) error {
	var packed string
	if json.Unmarshal(raw, &packed) == nil {
		raw = json.RawMessage(packed)
	}
	var one params
	if json.Unmarshal(raw, &one) == nil {
		return captionField.check(one)
	}
	var all []params
	_ = json.Unmarshal(raw, &all) // what is no list is Telegram's to refuse
	for i, p := range all {
		if err := captionField.check(p); err != nil {
			return fmt.Errorf("media %d: %w", i+1, err)
		}
	}
	return nil
}

// split cuts the text of a call that was whole until now.
func (f field) split(whole []Piece, p params) ([]Piece, error) {
	m, ok, err := f.read(p)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return whole, nil
	case f == textField && blank(m.source):
		return nil, ErrEmpty
	case m.takes(m.source):
		return whole, nil
	}
	text, err := m.parse()
	switch {
	case err != nil:
		return nil, err
	case f == textField && blank(text.text):
		return nil, ErrEmpty
	case m.takes(text.text):
		return whole, nil
	}
	parts, err := text.pieces(f.limit, textField.limit)
	if err != nil {
		return nil, err
	}
	if len(parts) == 0 { // a blank caption is none
		parts = []formatted{{}}
	}
	return f.calls(whole[0].Method, p, parts), nil
}

// calls are the calls that send the parts.
func (f field) calls(method string, p params, parts []formatted) []Piece {
	all := make([]Piece, len(parts))
	buttons, last := p["reply_markup"], len(parts)-1
	first := maps.Clone(p)
	delete(first, "reply_markup")
	for i, part := range parts {
		one := f.put(first, part)
		if i > 0 {
			method, one = "sendMessage", textField.put(followUp(p), part)
		}
		if i == last && buttons != nil {
			one["reply_markup"] = buttons
		}
		all[i] = Piece{Method: method, Params: encoded(one)}
	}
	return all
}

// followUp are the parameters of a piece that is not the first.
func followUp(p params) params {
	kept := params{}
	for _, name := range along {
		if value, ok := p[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

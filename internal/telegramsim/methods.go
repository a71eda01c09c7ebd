package telegramsim

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"
)

// method is one Bot API method. Counted ones spend the limits and are refused
// during a penalty; run is called with Sim.mu held.
type method struct {
	counted bool
	run     func(*Sim, *call) *answer
}

// methods are those with behaviour of their own, by lower-case name.
var methods = map[string]method{
	"getme":                  {run: func(s *Sim, _ *call) *answer { return ok(s.me()) }},
	"logout":                 {run: (*Sim).logOut},
	"close":                  {run: accept},
	"setwebhook":             {run: (*Sim).setWebhook},
	"deletewebhook":          {run: (*Sim).deleteWebhook},
	"getwebhookinfo":         {run: (*Sim).webhookInfo},
	"sendmessage":            {counted: true, run: (*Sim).sendMessage},
	"sendmediagroup":         {counted: true, run: (*Sim).sendMediaGroup},
	"sendchataction":         {counted: true, run: (*Sim).sendChatAction},
	"forwardmessage":         {counted: true, run: (*Sim).forward},
	"copymessage":            {counted: true, run: (*Sim).forward},
	"forwardmessages":        {counted: true, run: (*Sim).forwardMany},
	"copymessages":           {counted: true, run: (*Sim).forwardMany},
	"editmessagetext":        {counted: true, run: (*Sim).edit},
	"editmessagecaption":     {counted: true, run: (*Sim).edit},
	"editmessagereplymarkup": {counted: true, run: (*Sim).edit},
	"editmessagemedia":       {counted: true, run: (*Sim).edit},
	"deletemessage":          {run: (*Sim).deleteMessage},
	"deletemessages":         {run: (*Sim).deleteMessages},
	"answercallbackquery":    {run: (*Sim).answerCallback},
	"getchat":                {run: (*Sim).getChat},
	"getchatmember":          {run: (*Sim).getChatMember},
	"getfile":                {run: (*Sim).getFile},
	"getmycommands":          {run: emptyList},
	"getchatadministrators":  {run: emptyList},
	"getuserprofilephotos":   {run: func(*Sim, *call) *answer { return ok(map[string]any{"total_count": 0, "photos": []any{}}) }},
}

// settings are the first words of methods that only change something the
// simulator does not look at. They answer true.
var settings = []string{
	"answer", "set", "delete", "pin", "unpin", "ban", "unban", "restrict", "promote", "approve",
	"decline", "leave", "reopen", "hide", "unhide", "stop", "read", "close", "edit",
}

// lookUp finds a method by its lower-case name. A method Telegram adds tomorrow
// works by its first word: a bot should not fail here before it fails there. An
// unknown get* method is a 404 all the same, since no result could be right.
func lookUp(name string) (method, bool) {
	if m, known := methods[name]; known {
		return m, true
	}
	if len(name) > len("send") && strings.HasPrefix(name, "send") {
		return method{counted: true, run: (*Sim).sendAny}, true
	}
	for _, word := range settings {
		if len(name) > len(word) && strings.HasPrefix(name, word) {
			return method{run: (*Sim).setting}, true
		}
	}
	return method{}, false
}

// perform runs a call against the state. A penalty is looked at before anything
// else of a counted call, so that even a call with a mistake in it prolongs one.
func (s *Sim) perform(ctx context.Context, c *call) *answer {
	if c.method == "getupdates" {
		return s.getUpdates(ctx, c)
	}
	if c.download {
		return s.download(c)
	}
	m, known := lookUp(c.method)
	if !known {
		return fail(http.StatusNotFound, "Not Found: method not found")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.counted {
		if a := s.penalised(c); a != nil {
			return a
		}
	}
	for _, value := range c.params {
		if !utf8.ValidString(value) {
			return badRequest("strings must be encoded in UTF-8")
		}
	}
	if a := s.readContent(c); a != nil {
		return a
	}
	return m.run(s, c)
}

func accept(*Sim, *call) *answer { return ok(true) }

func emptyList(*Sim, *call) *answer { return ok([]any{}) }

// setting answers true, or the chat's error when it names a chat.
func (s *Sim) setting(c *call) *answer {
	if c.params["chat_id"] == "" {
		return ok(true)
	}
	if _, a := s.writable(c); a != nil {
		return a
	}
	return ok(true)
}

package telegramsim

import (
	"net/http"
	"strconv"
	"strings"
)

// chatID resolves a chat_id parameter: a number, or "@username" in any case. 0 is
// unknown. Both spellings must end at the same id, or a limit would count one chat
// twice.
func (s *Sim) chatID(param string) int64 {
	if name, isName := strings.CutPrefix(param, "@"); isName {
		for _, id := range s.order {
			if strings.EqualFold(s.chats[id].Username, name) {
				return id
			}
		}
		return 0
	}
	id, err := strconv.ParseInt(param, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// readable finds the chat of a call, whatever its state. Telegram tells a chat that
// does not exist from a person who never wrote only when it knows the person:
// most of the time both are a 400 "chat not found", which is the default here.
func (s *Sim) readable(c *call) (*chat, *answer) {
	if c.params["chat_id"] == "" {
		return nil, badRequest("chat_id is empty")
	}
	id := s.chatID(c.params["chat_id"])
	if ch := s.chats[id]; ch != nil {
		return ch, nil
	}
	switch {
	case id != 0 && s.opts.Unknown == UnknownCreate:
		return s.ensureChat(id), nil
	case id > 0 && s.opts.Unknown == UnknownNeverStarted:
		return nil, forbidden("bot can't initiate conversation with a user")
	}
	return nil, badRequest("chat not found")
}

// writable finds the chat of a call, or the error a write to it gets. Only
// writes meet a migration: reads and edits of the old chat go on working
// (Client.cpp, check_chat_access, AccessRights::Write). A caller that learned of
// a migration from sends alone would miss it in a bot that only edits.
func (s *Sim) writable(c *call) (*chat, *answer) {
	ch, a := s.readable(c)
	if a != nil {
		return nil, a
	}
	if ch.State == ChatMigrated {
		a := fail(http.StatusBadRequest, "Bad Request: group chat was upgraded to a supergroup chat")
		a.migrateTo = ch.MovedTo
		return nil, a
	}
	return ch, ch.refusal()
}

// refusal is the 403 of a chat the bot cannot reach, nil when it can. The words
// are TDLib's and the open server's; clients have nothing else to tell them by.
func (c *chat) refusal() *answer {
	switch c.State {
	case ChatBlocked:
		return forbidden("bot was blocked by the user")
	case ChatDeactivated:
		return forbidden("user is deactivated")
	case ChatNeverStarted:
		return forbidden("bot can't initiate conversation with a user")
	case ChatKicked:
		return forbidden("bot was kicked from the " + c.Type + " chat")
	default:
		return nil
	}
}

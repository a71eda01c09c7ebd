package telegramsim

import "time"

// Block lets the user of a private chat block the bot: sends answer 403 and a
// my_chat_member update goes out.
func (s *Sim) Block(chatID int64) { s.become(chatID, ChatBlocked) }

// Unblock undoes Block, with its my_chat_member update.
func (s *Sim) Unblock(chatID int64) { s.become(chatID, ChatOpen) }

// Kick removes the bot from a group: sends answer 403 and a my_chat_member
// update goes out. Unblock lets it in again.
func (s *Sim) Kick(chatID int64) { s.become(chatID, ChatKicked) }

// Deactivate deletes the user's account: sends answer 403. Telegram tells bots
// nothing about it, so there is no update.
func (s *Sim) Deactivate(chatID int64) { s.become(chatID, ChatDeactivated) }

func (s *Sim) become(chatID int64, state ChatState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setState(s.ensureChat(chatID), state)
}

// setState changes a chat and tells the bot, unless Telegram would not: of a
// deleted account, and of a first start, bots learn nothing.
func (s *Sim) setState(ch *chat, state ChatState) {
	if ch.State == state {
		return
	}
	before := ch.State
	ch.State = state
	s.emitChat(ch)
	s.changed()
	if state == ChatDeactivated || before == ChatNeverStarted {
		return
	}
	s.deliver("my_chat_member", map[string]any{
		"chat":            ch.object(),
		"from":            s.user(ch.member()),
		"date":            time.Now().Unix(),
		"old_chat_member": s.member(before),
		"new_chat_member": s.member(state),
	})
}

// member is the bot's membership; in a private chat "kicked" means blocked, for
// the Bot API has no other word for it.
func (s *Sim) member(state ChatState) map[string]any {
	m := map[string]any{"user": s.botUser(), "status": "member"}
	if state == ChatBlocked || state == ChatKicked {
		m["status"], m["until_date"] = "kicked", 0
	}
	return m
}

// Migrate turns a group into a supergroup and returns its new id: the old id
// answers every write with 400 and migrate_to_chat_id, and both service
// messages go out. A group that moved already returns the same id again.
// Messages do not move: their old ids are unknown in the new chat.
func (s *Sim) Migrate(group int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.ensureChat(group)
	if old.State == ChatMigrated {
		return old.MovedTo
	}
	moved := s.ensureChat(supergroupEdge - 1_000_000_000 - s.rng.Int64N(1_000_000_000))
	moved.Title = old.Title
	s.service(old, map[string]any{"migrate_to_chat_id": moved.ID})
	s.service(moved, map[string]any{"migrate_from_chat_id": old.ID})
	old.State, old.MovedTo = ChatMigrated, moved.ID
	s.emitChat(old)
	s.emitChat(moved)
	return moved.ID
}

// service stores and delivers a service message. allowed_updates may keep the
// update from the bot; the 400 of the next write is then all it learns.
func (s *Sim) service(ch *chat, fields map[string]any) {
	m := s.store(ch, &Message{FromID: ch.member(), Service: fields})
	s.emitMessage("user", m)
	s.deliver("message", s.render(m))
}

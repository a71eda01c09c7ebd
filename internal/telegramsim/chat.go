package telegramsim

import (
	"strconv"
	"time"
)

// ChatState is what became of a chat, as far as the bot can write to it.
type ChatState string

// The states of a chat.
const (
	ChatOpen         ChatState = "open"
	ChatBlocked      ChatState = "blocked"       // by its user
	ChatDeactivated  ChatState = "deactivated"   // the user's account is gone
	ChatNeverStarted ChatState = "never_started" // the user has not written yet
	ChatKicked       ChatState = "kicked"        // the bot was removed from the group
	ChatMigrated     ChatState = "migrated"      // became a supergroup with another id
)

// Chat names a chat. ID decides the kind when Type is empty: positive is a
// private chat, below -10^12 a supergroup, else negative a basic group.
type Chat struct {
	ID       int64
	Type     string
	Title    string // of a group; default "Group <id>"
	Name     string // first name of a private chat's user; default "User <id>"
	Username string // without "@"; "" means none
	State    ChatState
	MovedTo  int64 // the supergroup a ChatMigrated group became
}

// chat is a Chat with all that happened in it. Everything is guarded by Sim.mu.
type chat struct {
	Chat
	// lastID is the last message id given. Ids count up in each chat by itself. In
	// Telegram private chats and basic groups share one count (Bot API docs leave
	// it open), so only "grows within a chat" may be relied on.
	lastID   int64
	messages []*Message
	// byID also holds what was deleted; live leaves that out.
	byID map[int64]*Message
	// unread counts the bot's messages since a person wrote, pressed or looked.
	unread int
	// typing is until when "typing" is shown.
	typing time.Time
	window window
}

// supergroupEdge is where ids of supergroups and channels begin, downwards: they
// are -100 followed by the id that TDLib knows them by.
const supergroupEdge = -1_000_000_000_000

func (c Chat) withDefaults() Chat {
	if c.Type == "" {
		c.Type = typeOf(c.ID)
	}
	if c.State == "" {
		c.State = ChatOpen
	}
	id := strconv.FormatInt(c.ID, 10)
	if c.Type == "private" && c.Name == "" {
		c.Name = "User " + id
	}
	if c.Type != "private" && c.Title == "" {
		c.Title = "Group " + id
	}
	return c
}

func typeOf(id int64) string {
	switch {
	case id > 0:
		return "private"
	case id < supergroupEdge:
		return "supergroup"
	default:
		return "group"
	}
}

// CreateChat makes a chat the bot may write to, or renames a known one. A State
// of "" leaves a known chat's state alone. An ID of 0 takes the next free
// private id. No update goes out: use Block, Kick and SendText for those.
func (s *Sim) CreateChat(c Chat) Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c.ID == 0 {
		s.lastUser++
		if s.chats[s.lastUser] == nil {
			c.ID = s.lastUser
		}
	}
	ch := s.ensureChat(c.ID)
	if c.State == "" {
		c.State, c.MovedTo = ch.State, ch.MovedTo
	}
	ch.Chat = c.withDefaults()
	s.emitChat(ch)
	s.changed()
	return ch.Chat
}

// Chats lists every known chat in the order they became known.
func (s *Sim) Chats() []Chat {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Chat, 0, len(s.order))
	for _, id := range s.order {
		list = append(list, s.chats[id].Chat)
	}
	return list
}

// ensureChat finds a chat or makes it, open. Nothing is emitted: most chats come
// to be by a message, and that event tells of both.
func (s *Sim) ensureChat(id int64) *chat {
	if ch := s.chats[id]; ch != nil {
		return ch
	}
	ch := &chat{Chat: Chat{ID: id}.withDefaults(), byID: map[int64]*Message{}}
	s.chats[id] = ch
	s.order = append(s.order, id)
	return ch
}

// object is the chat as the Bot API shows it.
func (c Chat) object() map[string]any {
	o := map[string]any{"id": c.ID, "type": c.Type}
	if c.Type == "private" {
		o["first_name"] = c.Name
	} else {
		o["title"] = c.Title
	}
	if c.Username != "" {
		o["username"] = c.Username
	}
	return o
}

// member is the user who acts in the chat unless a test says otherwise: in a
// private chat its own user, in a group a made-up one.
func (c Chat) member() int64 {
	if c.ID > 0 {
		return c.ID
	}
	return 600_000_000 + (-c.ID)%1_000_000
}

// user is the sender as the Bot API shows it.
func (s *Sim) user(id int64) map[string]any {
	u := map[string]any{"id": id, "is_bot": false, "first_name": s.firstName(id), "language_code": "en"}
	if ch := s.chats[id]; ch != nil && ch.Username != "" {
		u["username"] = ch.Username
	}
	return u
}

// firstName is made up for a user who has no chat.
func (s *Sim) firstName(id int64) string {
	if ch := s.chats[id]; ch != nil {
		return ch.Name
	}
	return "User " + strconv.FormatInt(id, 10)
}

func (s *Sim) botUser() map[string]any {
	return map[string]any{"id": s.botID, "is_bot": true, "first_name": "Simulated bot", "username": s.opts.BotName}
}

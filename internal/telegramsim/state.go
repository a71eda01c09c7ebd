package telegramsim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// savedMessages is how many messages of a chat the file keeps.
const savedMessages = 5000

// savedState is the file's content. The token is not in it; a webhook's secret is.
type savedState struct {
	Items     []queued         `json:"items"`
	Strays    []queued         `json:"strays"`
	Next      int64            `json:"next"`
	Confirmed int64            `json:"confirmed"`
	Allowed   []string         `json:"allowed"`
	Webhook   string           `json:"webhook,omitempty"` // in files from when there was an address only
	Hook      webhook          `json:"webhook_settings"`
	Seq       int64            `json:"seq"`
	LastUser  int64            `json:"last_user"`
	Queries   map[string]query `json:"queries"`
	Chats     []savedChat      `json:"chats"`
	Penalties []savedPenalty   `json:"penalties"`
	Charged   int64            `json:"charged"`
}

type savedChat struct {
	Chat     Chat      `json:"chat"`
	LastID   int64     `json:"last_id"`
	Unread   int       `json:"unread"`
	Messages []Message `json:"messages"`
}

type savedPenalty struct {
	ChatID int64         `json:"chat_id"`
	Until  time.Time     `json:"until"`
	Length time.Duration `json:"length"`
}

// snapshot copies what the encoder will read, so that it runs without the lock. The
// slices of a message are shared: they are replaced or appended to, never changed. It
// also returns how many changes the copy has.
func (s *Sim) snapshot() (*savedState, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queue
	st := &savedState{
		Items: slices.Clone(q.items), Strays: slices.Clone(q.strays), Next: q.next, Confirmed: q.confirmed,
		Allowed: q.allowed, Hook: s.hook, Seq: s.seq, LastUser: s.lastUser, Queries: maps.Clone(s.queries), Charged: s.charged,
	}
	for _, id := range s.order {
		ch := s.chats[id]
		saved := savedChat{Chat: ch.Chat, LastID: ch.lastID, Unread: ch.unread}
		for _, m := range ch.messages[max(0, len(ch.messages)-savedMessages):] {
			saved.Messages = append(saved.Messages, *m)
		}
		st.Chats = append(st.Chats, saved)
	}
	for id, p := range s.penalties {
		st.Penalties = append(st.Penalties, savedPenalty{ChatID: id, Until: p.until, Length: p.length})
	}
	return st, s.saver.changes
}

// load reads the state file; a missing one is a first start. What a file of an older
// version lacks keeps its zero value. Nothing is written before the first change,
// so a refused file stays as it is.
func (s *Sim) load() error {
	raw, err := os.ReadFile(s.opts.StateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var st savedState
	if err := json.Unmarshal(raw, &st); err != nil {
		return err
	}
	s.queue = queue{items: st.Items, strays: st.Strays, next: st.Next, confirmed: st.Confirmed, allowed: st.Allowed}
	s.queue.number()
	s.hook = st.Hook
	if st.Webhook != "" {
		s.hook = webhook{URL: st.Webhook, MaxConnections: defaultConnections}
	}
	s.seq, s.lastUser, s.charged = st.Seq, st.LastUser, st.Charged
	maps.Copy(s.queries, st.Queries)
	for _, saved := range st.Chats {
		s.restore(saved)
	}
	for _, p := range st.Penalties {
		// Whoever calls now may well have been told before the restart.
		s.penalties[p.ChatID] = &penalty{until: p.Until, length: p.Length, told: time.Now()}
	}
	return nil
}

func (s *Sim) restore(saved savedChat) {
	ch := s.ensureChat(saved.Chat.ID)
	ch.Chat, ch.lastID, ch.unread = saved.Chat, saved.LastID, saved.Unread
	for i := range saved.Messages {
		m := &saved.Messages[i]
		ch.messages = append(ch.messages, m)
		ch.byID[m.ID] = m
	}
}

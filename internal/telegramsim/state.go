package telegramsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	// saveDelay gathers changes before a write.
	saveDelay = 150 * time.Millisecond
	// savedMessages is how many messages of a chat the file keeps.
	savedMessages = 5000
)

// saver wakes the goroutine that writes the state file.
type saver struct {
	wake chan struct{}
	file sync.Mutex // one writer at a time
}

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

// changed asks for a write. It is called with Sim.mu held.
func (s *Sim) changed() {
	select {
	case s.saver.wake <- struct{}{}:
	default:
	}
}

// keepSaving writes the file soon after each change. A write that takes long is
// followed by a pause of four times its length. Its errors show at Close, which
// writes once more.
func (s *Sim) keepSaving() {
	for {
		select {
		case <-s.done:
			return
		case <-s.saver.wake:
		}
		if !s.pause(saveDelay, nil) {
			return
		}
		start := time.Now()
		_ = s.save()
		if took := time.Since(start); took > saveDelay/4 && !s.pause(4*took, nil) {
			return
		}
	}
}

// save writes the whole state beside the file and renames it into place, so that a
// process that dies leaves the old state or the new one. The file is not synced: a
// machine that loses power may leave a torn one, which load refuses rather than
// start with half of the updates.
func (s *Sim) save() error {
	s.saver.file.Lock()
	defer s.saver.file.Unlock()
	raw, err := json.Marshal(s.snapshot())
	if err != nil {
		return fmt.Errorf("encode simulator state: %w", err)
	}
	temp, err := os.CreateTemp(filepath.Dir(s.opts.StateFile), ".sim-*")
	if err != nil {
		return fmt.Errorf("write simulator state: %w", err)
	}
	_, err = temp.Write(raw)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), s.opts.StateFile)
	}
	if err != nil {
		return fmt.Errorf("write simulator state: %w", errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// snapshot copies what the encoder will read, so that it runs without the lock. The
// slices of a message are shared: they are replaced or appended to, never changed.
func (s *Sim) snapshot() *savedState {
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
	return st
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

package starter

import (
	"time"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// inAir is longer than a request can be on its way: until then its answer may
	// be older than what an update says of the chat.
	inAir = 2 * time.Minute
	// trusted is how long a mark that Temporal confirmed is not asked about again.
	trusted = 5 * time.Second
	// recentFor is how long a list may not show a mark yet, with a wide margin.
	recentFor = time.Minute
	// mostRecent bounds what a hand-over carries.
	mostRecent = 1000
)

// chatMarks is what one process knows of its chats: plain tables and times,
// guarded by who holds it.
type chatMarks struct {
	// closed are the closed marks that Temporal may hold. One that is older than
	// the last update of its chat is void: it counts for nothing, and stays here
	// until Temporal has heard that.
	closed map[int64]closedMark
	moved  chatMoves
	// seen are the last updates of chats, for inAir, and for as long as older
	// marks may turn up.
	seen   map[int64]time.Time
	swept  time.Time
	loaded bool
	recent []int64 // chats marked lately, the newest last
}

type closedMark struct {
	contract.ChatClosed
	confirmed time.Time // zero: by nobody yet
}

func newChatMarks() chatMarks {
	return chatMarks{
		closed: make(map[int64]closedMark), moved: make(chatMoves), seen: make(map[int64]time.Time),
	}
}

// see notes an update of the chat, which makes its closed mark void. It returns
// the time before which marks are void, and whether there is one to take back.
func (m *chatMarks) see(chat int64, now time.Time) (before time.Time, marked bool) {
	mark, marked := m.closed[chat]
	if marked && !mark.Since.Before(now) {
		now = mark.Since.Add(1) // by another clock: we know that the mark came first
	}
	if last := m.seen[chat]; last.After(now) {
		now = last
	}
	m.seen[chat] = now
	m.sweep(now)
	return now, marked
}

// sweep forgets updates that are too old to matter.
func (m *chatMarks) sweep(now time.Time) {
	if !m.loaded || now.Sub(m.swept) < inAir {
		return
	}
	m.swept = now
	for chat, at := range m.seen {
		if _, marked := m.closed[chat]; !marked && now.Sub(at) > inAir {
			delete(m.seen, chat)
		}
	}
}

func (m *chatMarks) void(chat int64, since time.Time) bool { return since.Before(m.seen[chat]) }

// standing is the chat's closed mark, unless it is void.
func (m *chatMarks) standing(chat int64) (closedMark, bool) {
	mark, ok := m.closed[chat]
	if !ok || m.void(chat, mark.Since) {
		return closedMark{}, false
	}
	return mark, true
}

// close notes a closed mark, void or not, and reports whether it is the newest.
func (m *chatMarks) close(chat int64, mark closedMark) bool {
	if known, ok := m.closed[chat]; ok && !known.Since.Before(mark.Since) {
		return false
	}
	m.closed[chat] = mark
	m.note(chat, mark.Since)
	return true
}

// cleared forgets a mark of which Temporal has heard that it is void.
func (m *chatMarks) cleared(chat int64, before time.Time) {
	if m.closed[chat].Since.Before(before) {
		delete(m.closed, chat)
	}
}

// confirm compares the mark that was asked about with what Temporal holds, nil
// for nothing, and returns what counts now.
func (m *chatMarks) confirm(chat int64, asked closedMark, found *contract.ChatClosed, now time.Time) (why string, closed bool) {
	mark, ok := m.standing(chat)
	switch {
	case !ok: // an update came meanwhile
		return "", false
	case !mark.Since.Equal(asked.Since): // another request was answered meanwhile
		return mark.Why, true
	case found == nil:
		delete(m.closed, chat)
		return "", false
	}
	m.closed[chat] = closedMark{ChatClosed: *found, confirmed: now}
	mark, ok = m.standing(chat)
	return mark.Why, ok
}

// voids are the marks that Temporal has to take back, with the time before which.
func (m *chatMarks) voids() map[int64]time.Time {
	all := map[int64]time.Time{}
	for chat, mark := range m.closed {
		if m.void(chat, mark.Since) {
			all[chat] = m.seen[chat]
		}
	}
	return all
}

// move notes that a chat moved, and reports whether that is newer than what was
// known. Nothing is sent to it any more.
func (m *chatMarks) move(from int64, mark contract.ChatMoved) bool {
	if !m.moved.add(from, mark) {
		return false
	}
	delete(m.closed, from)
	m.note(from, mark.Since)
	return true
}

// learn takes over what another process knew. What is newer here stays.
func (m *chatMarks) learn(s contract.ChatState) {
	switch {
	case s.ChatID == 0: // no state
	case s.Moved != nil:
		m.move(s.ChatID, *s.Moved)
	case s.Closed != nil:
		m.close(s.ChatID, closedMark{ChatClosed: *s.Closed})
	}
}

// note keeps a mark for the next hand-over, if it is young enough.
func (m *chatMarks) note(chat int64, since time.Time) {
	if time.Since(since) > recentFor {
		return
	}
	m.recent = append(m.recent, chat)
	m.recent = m.recent[max(len(m.recent)-mostRecent, 0):]
}

// latest are the marks that were made within recentFor.
func (m *chatMarks) latest(now time.Time) []contract.ChatState {
	var all []contract.ChatState
	told := map[int64]bool{}
	for _, chat := range m.recent {
		if told[chat] {
			continue
		}
		told[chat] = true
		s := contract.ChatState{ChatID: chat}
		if mark, ok := m.standing(chat); ok && now.Sub(mark.Since) < recentFor {
			s.Closed = &mark.ChatClosed
		}
		if mark, ok := m.moved[chat]; ok && now.Sub(mark.Since) < recentFor {
			s.Moved = &mark
		}
		if s.Closed != nil || s.Moved != nil {
			all = append(all, s)
		}
	}
	return all
}

package limiter

import (
	"cmp"
	"slices"
	"time"
)

const (
	mostEdits = 1000 // in a state; those remembered longest are kept
	mostMarks = 64   // of a bot's budget in a state
)

// State is what the next limiter of the same bot must know: all that would
// otherwise break a promise over the change. Its JSON is small and stable, and
// [Restore] takes it back. What waits is not in it, for its callers come again.
type State struct {
	// Taken is when the state was read.
	Taken time.Time `json:"taken"`
	// Bot is what the whole bot has used up in the last second, and has learned.
	Bot BotState `json:"bot,omitzero"`
	// Paid is the same for what Telegram is paid for, zero if that is no more than a
	// limiter starts with.
	Paid BotState `json:"paid,omitzero"`
	// Penalties are in force, or wait for their probe.
	Penalties []PenaltyState `json:"penalties,omitempty"`
	// Chats are those whose windows, even rate or lesson still count.
	Chats []ChatState `json:"chats,omitempty"`
	// Edits are those of which more than one version may be under way.
	Edits []EditState `json:"edits,omitempty"`
	// Moves are the chats that have another id now.
	Moves []MoveState `json:"moves,omitempty"`
}

// BotState is the budget that all chats share.
type BotState struct {
	Sent []SentState `json:"sent,omitempty"`
	// Next is when the even pace lets the next call go.
	Next   time.Time    `json:"next"`
	Lesson *LessonState `json:"lesson,omitempty"`
}

// PenaltyState is one penalty; see [Limiter.Penalize].
type PenaltyState struct {
	Chat   int64     `json:"chat,omitempty"`
	Method string    `json:"method,omitempty"`
	Until  time.Time `json:"until"`
	// Refused are the methods that were answered 429.
	Refused []string `json:"refused,omitempty"`
	// Long says that a scout may go; Confirmed, that it went and was refused, or
	// that its answer is not known.
	Long      bool `json:"long,omitempty"`
	Confirmed bool `json:"confirmed,omitempty"`
}

// ChatState is what one chat has used up.
type ChatState struct {
	Chat int64 `json:"chat"`
	// Sent are the calls that still count. Those in the air count as answered at
	// that moment.
	Sent []SentState `json:"sent,omitempty"`
	// Repaid is when the even rate will have made up for them; zero if it has.
	Repaid time.Time    `json:"repaid,omitzero"`
	Lesson *LessonState `json:"lesson,omitempty"`
}

// SentState is one answered call.
type SentState struct {
	At    time.Time `json:"at"`
	Items int       `json:"n"`
}

// LessonState is a share of a configured rate and when it begins to recover.
type LessonState struct {
	Share float64   `json:"share"`
	Since time.Time `json:"since"`
}

// EditState is the newest edit of a message.
type EditState struct {
	Chat   int64     `json:"chat"`
	Edits  string    `json:"edits"`
	Newest time.Time `json:"newest"`
	Until  time.Time `json:"until"`
}

// MoveState is one chat's move.
type MoveState struct {
	From  int64     `json:"from"`
	To    int64     `json:"to"`
	Until time.Time `json:"until"`
}

// State returns what a successor must know. It looks at every chat remembered.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	s := State{Taken: l.wall(now), Bot: l.botState(l.free.bot, now)}
	if l.paid.used > 0 || l.paid.open > 0 || l.paid.bot.next > now || l.paid.lesson.left(now) < 1 {
		s.Paid = l.botState(l.paid.bot, now)
	}
	for scope, p := range l.penalties {
		s.Penalties = append(s.Penalties, PenaltyState{
			Chat: scope.Chat, Method: scope.Method, Until: l.wall(p.until),
			Refused: slices.Clone(p.refused), Long: p.long, Confirmed: p.confirmed || p.scouting,
		})
	}
	for _, ln := range l.lanes {
		s.Edits = append(s.Edits, l.openEdits(ln, now)...)
		if chat, counts := l.chatState(ln, now); counts {
			s.Chats = append(s.Chats, chat)
		}
	}
	for from, m := range l.moves {
		if m.until > now {
			s.Moves = append(s.Moves, MoveState{From: from, To: m.to, Until: l.wall(m.until)})
		}
	}
	s.sort()
	s.Edits = s.Edits[:min(len(s.Edits), mostEdits)]
	return s
}

func (l *Limiter) botState(b bot, now time.Duration) BotState {
	if b.step == 0 {
		return BotState{}
	}
	b.marks = slices.Clone(b.marks)
	b.expire(now)
	if b.open > 0 {
		b.add(now, b.open)
	}
	b.marks = coarse(b.marks)
	return BotState{Sent: l.sent(&b.window), Next: l.wall(b.next), Lesson: l.lesson(&b.lesson, now)}
}

// coarse joins marks that follow each other until they are few; the earlier ones
// then count as long as the last.
func coarse(marks []mark) []mark {
	var few []mark
	for joined := range slices.Chunk(marks, 1+len(marks)/mostMarks) {
		last := joined[len(joined)-1]
		for _, m := range joined[:len(joined)-1] {
			last.items += m.items
		}
		few = append(few, last)
	}
	return few
}

// chatState reads what a chat has used up; false if that is nothing any more.
func (l *Limiter) chatState(ln *lane, now time.Duration) (ChatState, bool) {
	b := ln.budget
	if b.rule == nil {
		return ChatState{}, false
	}
	b.marks = slices.Clone(b.marks)
	b.expire(now)
	for _, c := range ln.inAir {
		b.charge(now, c.req.Items)
	}
	s := ChatState{Chat: ln.chat, Sent: l.sent(&b.window), Lesson: l.lesson(&b.lesson, now)}
	if b.repaid > now {
		s.Repaid = l.wall(b.repaid)
	}
	return s, b.used > 0 || b.repaid > now || s.Lesson != nil
}

func (l *Limiter) sent(w *window) []SentState {
	var all []SentState
	for _, m := range w.marks {
		all = append(all, SentState{At: l.wall(m.at), Items: m.items})
	}
	return all
}

func (l *Limiter) lesson(learned *lesson, now time.Duration) *LessonState {
	if learned.left(now) == 1 {
		return nil
	}
	return &LessonState{Share: learned.share, Since: l.wall(learned.since)}
}

// openEdits lists the edits of a chat of which more than one version may be under
// way: an older one was seen, or the newest has not been answered.
func (l *Limiter) openEdits(ln *lane, now time.Duration) []EditState {
	var all []EditState
	for key, e := range ln.edits.newest {
		away := e.until > now+editMemory || ln.placeOf(key, e) != nil
		inAir := slices.ContainsFunc(ln.inAir, func(c *call) bool { return c.req.Edits == key })
		if e.until > now && (e.contested || away || inAir) {
			all = append(all, EditState{Chat: ln.chat, Edits: key, Newest: time.Unix(0, e.since).UTC(), Until: l.wall(e.until)})
		}
	}
	return all
}

func (s *State) sort() {
	slices.SortFunc(s.Penalties, func(a, b PenaltyState) int {
		return cmp.Or(cmp.Compare(a.Chat, b.Chat), cmp.Compare(a.Method, b.Method))
	})
	slices.SortFunc(s.Chats, func(a, b ChatState) int { return cmp.Compare(a.Chat, b.Chat) })
	slices.SortFunc(s.Edits, func(a, b EditState) int {
		return cmp.Or(b.Until.Compare(a.Until), cmp.Compare(a.Chat, b.Chat), cmp.Compare(a.Edits, b.Edits))
	})
	slices.SortFunc(s.Moves, func(a, b MoveState) int { return cmp.Compare(a.From, b.From) })
}

// wall returns an instant as a time that other processes understand.
func (l *Limiter) wall(at time.Duration) time.Time {
	return l.born.Add(at).Round(0).UTC()
}

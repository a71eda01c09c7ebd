package limiter

import (
	"math"
	"slices"
	"time"
)

// A state may come from a process whose clock was wrong, or be damaged. What it
// says holds nothing up for longer than these.
const (
	longestKept = 15 * 24 * time.Hour // Telegram waits are at most 14 days (tdlib/td, NetQueryDelayer.cpp)
	mostRepaid  = 800                 // steps: a batch of 100 at the least share
	mostItems   = 1e6                 // as in a Request
	clockSkew   = time.Minute         // a newest edit further in the future is not believed
)

// Restore is [New] with the state of an earlier limiter of the same bot. What is
// over by now is ignored, and what makes no sense is ignored or cut down. The bot
// itself starts as if it had just been sending at its even rate, as in New.
func Restore(cfg Config, s State) *Limiter {
	l := New(cfg)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restoreBot(&l.free.bot, s.Bot)
	l.restoreBot(&l.paid.bot, s.Paid)
	for _, m := range s.Moves {
		l.restoreMove(m)
	}
	for _, c := range s.Chats {
		l.restoreChat(c)
	}
	for _, e := range s.Edits {
		l.restoreEdit(e)
	}
	for _, p := range s.Penalties {
		l.restorePenalty(p)
	}
	now := l.now()
	for _, ln := range l.lanes {
		l.evaluate(ln, now)
	}
	l.dispatch(now)
	return l
}

// instant returns a wall-clock time as an instant; New was at 0.
func (l *Limiter) instant(t time.Time, least, most time.Duration) time.Duration {
	return min(max(t.Sub(l.born), least), most)
}

func (l *Limiter) restoreMove(m MoveState) {
	until := l.instant(m.Until, 0, moveMemory)
	_, twice := l.moves[m.From]
	if until == 0 || m.From == 0 || m.To == 0 || twice || l.present(m.To, 0) == m.From {
		return // over, or it would close a cycle
	}
	l.moves[m.From] = move{to: m.To, until: until}
}

func (l *Limiter) restoreBot(b *bot, s BotState) {
	if b.step == 0 {
		return
	}
	b.lesson = l.restoreLesson(s.Lesson)
	l.restoreSent(&b.window, s.Sent)
	b.next = max(b.next, l.instant(s.Next, 0, mostRepaid*b.step))
}

// restoreSent adds what still counts to a window.
func (l *Limiter) restoreSent(w *window, sent []SentState) {
	known := *w
	known.marks, known.used = nil, 0
	for _, call := range slices.SortedFunc(slices.Values(sent), func(a, b SentState) int { return a.At.Compare(b.At) }) {
		at := l.instant(call.At, -never, 0)
		if call.Items > 0 && at+w.stretch(0, w.length) > 0 {
			known.add(at, min(call.Items, mostItems))
		}
	}
	w.absorb(&known)
}

func (l *Limiter) restoreChat(s ChatState) {
	if s.Chat == 0 || l.lanes[s.Chat] != nil {
		return
	}
	ln := l.newLane(s.Chat)
	b := &ln.budget
	if b.rule == nil {
		return
	}
	b.lesson = l.restoreLesson(s.Lesson)
	if b.share != 0 {
		l.learned[s.Chat] = ln
	}
	l.restoreSent(&b.window, s.Sent)
	b.repaid = l.instant(s.Repaid, 0, mostRepaid*b.rule.step)
	l.charge(ln)
}

func (l *Limiter) restoreLesson(s *LessonState) lesson {
	if s == nil || math.IsNaN(s.Share) {
		return lesson{}
	}
	learned := lesson{share: max(leastShare, s.Share), since: l.instant(s.Since, -never, longestKept)}
	if learned.left(0) == 1 {
		return lesson{}
	}
	return learned
}

func (l *Limiter) restoreEdit(s EditState) {
	until := l.instant(s.Until, 0, longestKept)
	if s.Chat == 0 || s.Edits == "" || until == 0 || s.Newest.Sub(l.born) > clockSkew {
		return
	}
	ln := l.lane(s.Chat, 0)
	since := s.Newest.UnixNano()
	ln.edits.put(s.Edits, edit{since: since, order: since, until: until, contested: true})
}

func (l *Limiter) restorePenalty(s PenaltyState) {
	until := l.instant(s.Until, -probeMemory, longestKept)
	if until <= -probeMemory {
		return
	}
	p := &penalty{scope: Scope{Chat: s.Chat, Method: s.Method}, until: until, long: s.Long, confirmed: s.Confirmed}
	for _, method := range s.Refused[:min(len(s.Refused), mostRefused+1)] {
		p.refuse(method)
	}
	if there := l.penalties[p.scope]; there != nil {
		there.merge(p)
		p = there
	}
	l.penalties[p.scope] = p
	l.enact(p, 0)
}

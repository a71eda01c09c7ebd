package telegramsim

import (
	"math"
	"time"
)

// wholeBot is the key of the penalty that holds for every chat.
const wholeBot int64 = 0

// tellGrace is how long after the first 429 of a penalty further calls are
// still taken for calls that were in the air when it was sent.
const tellGrace = 50 * time.Millisecond

// penalty is a span in which counted calls to a chat, or of the bot, get 429.
type penalty struct {
	until time.Time
	// length is what growth multiplies; until moves with each violation.
	length time.Duration
	// told is when its first 429 was written; zero until then. A caller cannot
	// know of a penalty before that, so nothing earlier is a violation.
	told time.Time
}

// Penalise starts a penalty of d for a chat, or for the whole bot when chatID is
// 0, as if a limit had been broken. A running longer one is replaced; d <= 0
// ends it.
func (s *Sim) Penalise(chatID int64, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d <= 0 {
		delete(s.penalties, chatID)
	} else {
		s.penalties[chatID] = &penalty{until: time.Now().Add(d), length: d}
	}
	s.emitPenalty(chatID)
	s.changed()
}

// penalised answers 429 when a penalty holds for the call. A call that could
// have known makes the penalty longer, as ignoring 429 does on the real server,
// and is marked as a violation. The answer looks the same for a chat and for the
// whole bot, as it does on the real server: a client has to find out.
func (s *Sim) penalised(c *call) *answer {
	now := time.Now()
	for _, scope := range []int64{wholeBot, c.entry.ChatID} {
		p := s.penalties[scope]
		if p == nil {
			continue
		}
		if !now.Before(p.until) {
			delete(s.penalties, scope)
			continue
		}
		if !p.told.IsZero() && c.entry.Arrived.After(p.told.Add(tellGrace)) {
			s.violated(c, scope, p, now)
		}
		return s.tooMany(c, p, now)
	}
	return nil
}

// violated makes a penalty longer and marks the request that ignored it. The
// growth law of the real server is not public; doubling is what users report.
func (s *Sim) violated(c *call, scope int64, p *penalty, now time.Time) {
	c.entry.Violation = true
	grown := time.Duration(min(float64(p.length)*s.limits.PenaltyFactor, float64(s.limits.MaxPenalty)))
	p.length = max(p.length, grown)
	if until := now.Add(p.length); until.After(p.until) && s.limits.PenaltyFactor > 1 {
		p.until = until
	}
	s.emitPenalty(scope)
	s.changed()
}

// admit spends the budgets of the chat and the bot, and Stars, or answers 429 and
// starts a penalty. The windows are looked at when the request is worked on, which is
// its arrival unless a fault delayed it.
func (s *Sim) admit(c *call, ch *chat, weight int) *answer {
	if s.limits.Off {
		return nil
	}
	if s.limits.AlbumAsOne {
		weight = 1
	}
	now := time.Now()
	limit, span := s.limits.forChat(ch.ID)
	if wait := ch.window.wait(now, span, limit, weight); wait > 0 && limit > 0 {
		return s.breach(c, ch.ID, wait, now)
	}
	bot, span, limit := s.botWindow(c)
	if wait := bot.wait(now, span, limit, weight); wait > 0 && limit > 0 {
		return s.breach(c, wholeBot, wait, now)
	}
	if a := s.pay(c, weight); a != nil {
		return a
	}
	// Both windows were asked before either is charged: a call refused by one
	// must not cost the other.
	ch.window.add(now, weight)
	bot.add(now, weight)
	return nil
}

// breach starts a penalty that lasts until the window has room again, in whole
// seconds because retry_after is.
func (s *Sim) breach(c *call, scope int64, wait time.Duration, now time.Time) *answer {
	length := max(wholeSeconds(wait), 1)
	p := &penalty{until: now.Add(time.Duration(length) * time.Second), length: time.Duration(length) * time.Second}
	s.penalties[scope] = p
	s.emitPenalty(scope)
	s.changed()
	return s.tooMany(c, p, now)
}

// tooMany tells the caller how long the penalty still lasts, rounded up so that
// obeying it is always enough.
func (s *Sim) tooMany(c *call, p *penalty, now time.Time) *answer {
	c.penalty = p
	seconds := max(wholeSeconds(p.until.Sub(now)), 1)
	s.emit(Event{Type: "rate_limited", ChatID: c.entry.ChatID, Method: c.entry.Method, RetryAfter: seconds, Violation: c.entry.Violation})
	return tooManyRequests(seconds)
}

func wholeSeconds(d time.Duration) int {
	return int(math.Ceil(d.Seconds()))
}

package limiter

import (
	"cmp"
	"slices"
	"time"
)

// Stats is what a limiter holds at one moment.
type Stats struct {
	// Waiting counts the calls inside Acquire, by class.
	Waiting [classes]int
	// Granted counts all grants since New, by class.
	Granted [classes]uint64
	// InAir counts the granted calls that spend budget and have not ended.
	InAir int
	// GlobalPerSecond and PaidPerSecond are the configured rates.
	GlobalPerSecond, PaidPerSecond float64
	// Tokens is how many more items the bot's window of one second takes now; -1
	// when the bot has no limit. The even pace may let the next one go later.
	Tokens int
	// Chats counts the chats that are remembered, for a window or a place kept.
	Chats int
	// Penalties lists what Telegram forbids, or what waits for its probe, ordered
	// by end. An end may be in the past.
	Penalties []Penalty
	// Learned lists the rates that 429s have lowered and that have not recovered,
	// ordered by chat, the bot's own first.
	Learned []Learned
	// Held lists the reasons of [Limiter.Hold] that are in force, sorted.
	Held []string
}

// Learned is what is left of the configured rate of a chat, or of the bot with
// Chat 0.
type Learned struct {
	Chat int64
	// Share is at least 1/8 and below 1.
	Share float64
}

// Penalty is one scope that must be silent.
type Penalty struct {
	Scope Scope
	Until time.Time
}

// Stats returns the present state; it costs time in proportion to the penalties
// and learned rates.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	stats := Stats{
		Waiting: l.waiting, Granted: l.granted, GlobalPerSecond: l.cfg.GlobalPerSecond, PaidPerSecond: l.cfg.PaidPerSecond,
		InAir: l.air.calls, Tokens: l.free.tokens(now), Chats: len(l.lanes),
		Learned: l.lessons(now), Held: l.reasons(),
	}
	for scope, p := range l.penalties {
		stats.Penalties = append(stats.Penalties, Penalty{Scope: scope, Until: l.born.Add(p.until)})
	}
	slices.SortFunc(stats.Penalties, func(a, b Penalty) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Scope.Chat, b.Scope.Chat), cmp.Compare(a.Scope.Method, b.Scope.Method))
	})
	return stats
}

// lessons lists the shares below the whole; a chat's that has recovered is no
// longer looked at.
func (l *Limiter) lessons(now time.Duration) []Learned {
	var all []Learned
	for chat, ln := range l.learned {
		if share := ln.budget.left(now); share < 1 {
			all = append(all, Learned{Chat: chat, Share: share})
		} else {
			delete(l.learned, chat)
		}
	}
	slices.SortFunc(all, func(a, b Learned) int { return cmp.Compare(a.Chat, b.Chat) })
	if share := l.free.lesson.left(now); share < 1 {
		all = slices.Insert(all, 0, Learned{Share: share})
	}
	return all
}

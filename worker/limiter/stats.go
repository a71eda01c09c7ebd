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
	// Tokens is how many more items the bot's window of one second takes now; -1
	// when the bot has no limit. The even pace may let the next one go later.
	Tokens int
	// Chats counts the chats that are remembered, for a window or a place kept.
	Chats int
	// Penalties lists what Telegram forbids, or what waits for its probe, ordered
	// by end. An end may be in the past.
	Penalties []Penalty
}

// Penalty is one scope that must be silent.
type Penalty struct {
	Scope Scope
	Until time.Time
}

// Stats returns the present state; it costs time in proportion to the penalties.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	stats := Stats{
		Waiting: l.waiting, Granted: l.granted,
		InAir: l.bot.air, Tokens: l.bot.left(l.now()), Chats: len(l.lanes),
	}
	for scope, p := range l.penalties {
		stats.Penalties = append(stats.Penalties, Penalty{Scope: scope, Until: l.born.Add(p.until)})
	}
	slices.SortFunc(stats.Penalties, func(a, b Penalty) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Scope.Chat, b.Scope.Chat), cmp.Compare(a.Scope.Method, b.Scope.Method))
	})
	return stats
}

package limiter

import (
	"math"
	"time"
)

// What a 429 teaches: additive increase, multiplicative decrease, as congestion
// control in TCP does it. Telegram publishes no exact limit and changes it from
// chat to chat, so the rate that is refused is halved at once. An eighth is the
// least, so that a chat never looks dead; from there it takes three and a half
// minutes back to the whole, longer than the windows that refused it last.
const (
	leastShare  = 1.0 / 8
	regained    = 1.0 / 8
	regainAfter = 30 * time.Second
)

// lesson is the share of a configured rate that 429s have left. The zero value
// is the whole rate.
type lesson struct {
	share float64       // after the last 429; 0: nothing was learned
	since time.Duration // when it began to recover; later than now in a silence
}

// left returns the share at an instant, above 0 and at most 1.
func (s *lesson) left(now time.Duration) float64 {
	if s.share == 0 {
		return 1
	}
	steps := max(0, now-s.since) / regainAfter
	return min(1, s.share+float64(steps)*regained)
}

// halve learns from a 429.
func (s *lesson) halve(now time.Duration) {
	*s = lesson{share: max(leastShare, s.left(now)/2), since: now}
}

// recovered returns when the share is whole again, 0 if it always was.
func (s *lesson) recovered() time.Duration {
	if s.share == 0 {
		return 0
	}
	return s.since + time.Duration(math.Ceil((1-s.share)/regained))*regainAfter
}

// stretch returns how long d is at the present share, rounded up.
func (s *lesson) stretch(now, d time.Duration) time.Duration {
	share := s.left(now)
	if share == 1 {
		return d
	}
	return time.Duration(math.Ceil(float64(d) / share))
}

// learn halves the rate of a chat or of the bot; a method has none of its own.
func (l *Limiter) learn(scope Scope, now time.Duration) {
	switch {
	case scope == Scope{}:
		l.free.halve(now)
		l.paid.halve(now)
	case scope.Method == "":
		ln := l.lane(scope.Chat, now)
		ln.budget.halve(now)
		l.learned[scope.Chat] = ln
	}
}

// recoverFrom lets a scope's share recover from the end of its silence on, which
// itself teaches nothing.
func (l *Limiter) recoverFrom(scope Scope, end time.Duration) {
	switch ln := l.learned[scope.Chat]; {
	case scope == Scope{}:
		l.free.since, l.paid.since = end, end
	case scope.Method == "" && ln != nil:
		ln.budget.since = end
	}
}

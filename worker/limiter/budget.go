package limiter

import (
	"math"
	"time"
)

// budget is what one chat may still take. A chat has one counted call in the air
// and is closed meanwhile, so a call is charged at its answer: the latest moment
// at which Telegram can have counted it.
type budget struct {
	rule *rule // nil: no limit
	window
	// repaid is when the even rate will have made up for all that was charged; a
	// burst may run ahead of it, a large album falls behind it.
	repaid time.Duration
}

func newBudget(r *rule) budget {
	if r == nil {
		return budget{}
	}
	return budget{rule: r, window: window{limit: r.limit, length: r.window}}
}

// charge counts items answered now.
func (b *budget) charge(now time.Duration, items int) {
	if b.rule == nil {
		return
	}
	b.add(now, items)
	b.repaid = max(b.repaid, now) + time.Duration(items)*b.step(now)
}

// drain takes the burst away: from now on the even rate.
func (b *budget) drain(now time.Duration) {
	if b.rule != nil {
		b.repaid = max(b.repaid, now+time.Duration(b.rule.burst)*b.step(now))
	}
}

// opens returns when items may go, given that none is in the air.
func (b *budget) opens(now time.Duration, items int) time.Duration {
	if b.rule == nil {
		return now
	}
	b.expire(now)
	short := min(items, b.rule.burst) - b.rule.burst
	return max(b.fits(now, 0, items), b.repaid+time.Duration(short)*b.step(now))
}

// spare reports whether items may go now and leave room for one more.
func (b *budget) spare(now time.Duration, items int) bool {
	return b.rule == nil || items < b.rule.burst && b.opens(now, items+1) <= now
}

// forecast estimates when items may go if those ahead, and nothing else, go as
// soon as they can, at the present share. With nothing ahead it is what opens
// says.
func (b *budget) forecast(now time.Duration, ahead, items int) time.Duration {
	if b.rule == nil {
		return now
	}
	b.expire(now)
	wanted := ahead + min(items, b.rule.limit)
	over := time.Duration(max(0, wanted-b.rule.limit)) * b.step(now)
	short := ahead + min(items, b.rule.burst) - b.rule.burst
	return max(b.fits(now, 0, wanted)+over, max(now, b.repaid)+time.Duration(short)*b.step(now))
}

// step is the time between two items at the even rate; there must be a rule.
func (b *budget) step(now time.Duration) time.Duration {
	return b.stretch(now, b.rule.step)
}

// halve lowers the rate, if there is one. What was charged takes as much longer to
// make up for.
func (b *budget) halve(now time.Duration) {
	if b.rule == nil {
		return
	}
	before := b.lesson
	b.lesson.halve(now)
	b.repaid = b.rescaled(&before, now)
}

// rescaled returns when what another share would have repaid is repaid at b's.
func (b *budget) rescaled(other *lesson, now time.Duration) time.Duration {
	debt := float64(max(0, b.repaid-now)) * other.left(now)
	return now + b.stretch(now, time.Duration(math.Ceil(debt)))
}

// rests returns when the budget is whole again and nothing is left to remember.
func (b *budget) rests(now time.Duration) time.Duration {
	return max(b.repaid, b.empties(now), b.recovered())
}

// absorb takes over what another budget was charged and has learned.
func (b *budget) absorb(other *budget, now time.Duration) {
	if b.rule == nil {
		return
	}
	b.window.absorb(&other.window)
	before, debt := b.lesson, *other
	if other.left(now) < b.left(now) {
		b.lesson = other.lesson
	}
	debt.lesson = b.lesson
	b.repaid = max(b.rescaled(&before, now), debt.rescaled(&other.lesson, now))
}

package limiter

import "time"

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
	b.repaid = max(b.repaid, now) + time.Duration(items)*b.rule.step
}

// drain takes the burst away: from now on the even rate.
func (b *budget) drain(now time.Duration) {
	if b.rule != nil {
		b.repaid = max(b.repaid, now+time.Duration(b.rule.burst)*b.rule.step)
	}
}

// opens returns when items may go, given that none is in the air.
func (b *budget) opens(now time.Duration, items int) time.Duration {
	if b.rule == nil {
		return now
	}
	b.expire(now)
	short := min(items, b.rule.burst) - b.rule.burst
	return max(b.fits(now, 0, items), b.repaid+time.Duration(short)*b.rule.step)
}

// forecast estimates when items may go if those ahead, and nothing else, go as
// soon as they can. With nothing ahead it is what opens says.
func (b *budget) forecast(now time.Duration, ahead, items int) time.Duration {
	if b.rule == nil {
		return now
	}
	b.expire(now)
	wanted := ahead + min(items, b.rule.limit)
	over := time.Duration(max(0, wanted-b.rule.limit)) * b.rule.step
	short := ahead + min(items, b.rule.burst) - b.rule.burst
	return max(b.fits(now, 0, wanted)+over, max(now, b.repaid)+time.Duration(short)*b.rule.step)
}

// rests returns when the budget is whole again and nothing is left to remember.
func (b *budget) rests() time.Duration {
	return max(b.repaid, b.empties())
}

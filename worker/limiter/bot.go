package limiter

import (
	"math"
	"time"
)

// lateness is how late a timer may be, or a call after an idle moment come,
// without the pace losing it: at 28 a second a millisecond with each call is
// nearly one call in thirty (measured). The window bounds what comes of it.
const lateness = 10 * time.Millisecond

// bot is a budget that all chats share: an even pace, a window of one second, and
// the slots in the air.
type bot struct {
	window
	step time.Duration // between two items; 0: no limit
	next time.Duration // when the even pace lets the next call go
	open int           // items in the air
	air  *air
}

// air is what is under way, free and paid together.
type air struct {
	calls int
	slots int // most calls; 0: no limit
}

// newBot starts as if the bot had been sending at its even pace until now: what
// an earlier process sent in the last second is not known.
func newBot(perSecond float64, a *air) bot {
	b := bot{air: a}
	if perSecond == 0 {
		return b
	}
	b.step = seconds(1 / perSecond)
	b.next = b.step
	rate := int(math.Ceil(perSecond))
	b.window = window{limit: rate + headroom, length: time.Second}
	for i := range rate {
		b.add(time.Duration(i+1)*time.Second/time.Duration(rate)-time.Second, 1)
	}
	return b
}

// fill keeps a budget silent for its first second: nothing of what it sent before
// is handed over, which would be a thousand calls.
func (b *bot) fill() {
	if b.step > 0 {
		b.marks, b.used = nil, 0
		b.add(0, b.limit)
	}
}

// opens returns when items may go; never if an answer must come first.
func (b *bot) opens(now time.Duration, items int) time.Duration {
	if b.air.slots > 0 && b.air.calls >= b.air.slots {
		return never
	}
	if b.step == 0 {
		return now
	}
	b.expire(now)
	return max(b.next, b.fits(now, b.open, items))
}

// take grants c now.
func (b *bot) take(c *call, now time.Duration) {
	b.air.calls++
	b.open += c.req.Items
	if b.step == 0 {
		return
	}
	c.paceBefore = b.next
	b.next = max(b.next, now-lateness) + time.Duration(c.req.Items)*b.stretch(now, b.step)
	c.paceAfter = b.next
}

// answered starts c's last window.
func (b *bot) answered(c *call, now time.Duration) {
	b.air.calls--
	b.open -= c.req.Items
	if b.step > 0 {
		b.add(now, c.req.Items)
	}
}

// giveBack undoes take for a call that never left. The pace can only be given
// back while no later call has built on it.
func (b *bot) giveBack(c *call) {
	b.air.calls--
	b.open -= c.req.Items
	if b.next == c.paceAfter {
		b.next = c.paceBefore
	}
}

// halve lowers the even pace, if there is one.
func (b *bot) halve(now time.Duration) {
	if b.step > 0 {
		b.lesson.halve(now)
	}
}

// tokens returns how many items fit into the window now, -1 without a limit.
func (b *bot) tokens(now time.Duration) int {
	if b.step == 0 {
		return -1
	}
	b.expire(now)
	return max(0, b.limit-b.used-b.open)
}

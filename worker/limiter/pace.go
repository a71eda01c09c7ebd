package limiter

import "time"

// recheck is the longest a call is sent away for while it is not known whether a
// penalty is on its method too.
const recheck = time.Minute

// reconsider decides whether c may go on waiting in place, and until when. It is
// asked when c enters and then whenever its patience ends.
func (l *Limiter) reconsider(c *call, now time.Duration) {
	if c.settled || l.banned(c, now) {
		return
	}
	due := now
	if c.lane.chat != 0 {
		due = l.forecast(c, now)
	}
	switch chat, method := l.late(c, now); {
	case chat || due-now > longWait:
		if chat {
			due = max(due, now+longWait) // nobody knows when: come back and see
		}
		l.pace(c, due, now, false)
	case method:
		l.pace(c, now+longWait, now, true)
	default:
		l.alarms.set(&c.alarm, c, now+longWait)
	}
}

// late reports whether an answer that c must wait for has been due for long: one
// to its chat, or one to a probe of its method.
func (l *Limiter) late(c *call, now time.Duration) (chat, method bool) {
	for _, inAir := range c.lane.inAir {
		chat = chat || now-inAir.granted >= longWait
	}
	for _, scope := range c.scopes() {
		p := l.penalties[scope]
		if p == nil || scope == (Scope{}) || p.probe == nil || now-p.probe.granted < longWait {
			continue
		}
		chat, method = chat || scope.Method == "", method || scope.Method != ""
	}
	return chat, method
}

// banned sends c away if a penalty on its chat or method is long.
func (l *Limiter) banned(c *call, now time.Duration) bool {
	if len(l.penalties) == 0 {
		return false
	}
	chat, method := l.chatOpens(c, now), l.methodOpens(c)
	switch {
	case chat-now > longWait:
		if c.lane.chat != 0 {
			chat = max(chat, c.lane.forecast(c, now, chat))
		}
		l.pace(c, chat, now, false)
	case method-now > longWait:
		l.pace(c, method, now, true)
	default:
		return false
	}
	return true
}

// chatOpens returns when the penalty on c's chat lets it go, 0 if there is none
// or c may scout it.
func (l *Limiter) chatOpens(c *call, now time.Duration) time.Duration {
	p := l.penalties[Scope{Chat: c.req.Chat}]
	switch {
	case p == nil || c.req.Chat == 0:
		return 0
	case !p.open(now):
		return p.until
	case p.passes(c):
		return 0
	case p.refuses(c):
		return p.until
	}
	return min(p.until, now+recheck)
}

// methodOpens returns when penalties on c's method end, 0 if there is none.
func (l *Limiter) methodOpens(c *call) (at time.Duration) {
	for _, scope := range c.scopes() {
		if p := l.penalties[scope]; p != nil && scope.Method != "" {
			at = max(at, p.until)
		}
	}
	return at
}

// forecast estimates when c's chat lets it go. What stands behind an open penalty
// does not hold up those who may scout it.
func (l *Limiter) forecast(c *call, now time.Duration) time.Duration {
	if p := l.penalties[Scope{Chat: c.lane.chat}]; p.open(now) && p.passes(c) {
		return c.lane.behind(c.lane.queues[c.req.Class].firstOf(p.passes), c, c.lane.budget.forecast(now, 0, c.req.Items))
	}
	return c.lane.forecast(c, now, l.chatOpens(c, now))
}

// pace tells a waiting call to come back at the instant due. Its place is kept,
// unless only its method has to wait: that must not hold up the chat.
func (l *Limiter) pace(c *call, due, now time.Duration, methodOnly bool) {
	if c.req.Transient {
		l.refuse(c, ErrDropped)
		return
	}
	l.alarms.clear(&c.alarm)
	l.waiting[c.req.Class]--
	c.granted = due
	c.lane.recall(c, due)
	c.settle(nil, &Paced{Delay: due - now, MethodOnly: methodOnly})
	if c.lane.chat == 0 || methodOnly {
		c.lane.queues[c.req.Class].remove(c)
		return
	}
	l.alarms.set(&c.alarm, c, due+placeKept)
}

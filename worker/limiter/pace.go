package limiter

import "time"

// reconsider decides whether c may go on waiting in place, and until when. It is
// asked when c enters and then whenever its patience ends.
func (l *Limiter) reconsider(c *call, now time.Duration) {
	if c.settled || l.banned(c, now) {
		return
	}
	due := now
	if c.lane.chat != 0 {
		due = c.lane.forecast(c, now, l.chatOpens(c))
	}
	late := l.late(c, now)
	if late {
		due = max(due, now+longWait) // nobody knows when: come back and see
	}
	if late || due-now > longWait {
		l.pace(c, due, now)
		return
	}
	l.alarms.set(&c.alarm, c, now+longWait)
}

// late reports whether an answer that c must wait for has been due for long.
func (l *Limiter) late(c *call, now time.Duration) bool {
	if c.lane.inAir != nil && now-c.lane.inAir.granted >= longWait {
		return true
	}
	for _, scope := range c.scopes() {
		p := l.penalties[scope]
		if p != nil && scope != (Scope{}) && p.probe != nil && now-p.probe.granted >= longWait {
			return true
		}
	}
	return false
}

// banned sends c away if a penalty on its chat or method is long.
func (l *Limiter) banned(c *call, now time.Duration) bool {
	if len(l.penalties) == 0 {
		return false
	}
	until := l.chatOpens(c)
	if p := l.penalties[Scope{Method: c.req.Method}]; p != nil && c.req.Method != "" {
		until = max(until, p.until)
	}
	if until-now <= longWait {
		return false
	}
	if c.lane.chat != 0 && l.chatOpens(c)-now > longWait {
		until = max(until, c.lane.forecast(c, now, l.chatOpens(c)))
	}
	l.pace(c, until, now)
	return true
}

// chatOpens returns when the penalty on c's chat ends, 0 if there is none.
func (l *Limiter) chatOpens(c *call) time.Duration {
	if p := l.penalties[Scope{Chat: c.req.Chat}]; p != nil && c.req.Chat != 0 {
		return p.until
	}
	return 0
}

// pace tells a waiting call to come back at the instant due. Its place is kept,
// unless only its method has to wait: that must not hold up the chat.
func (l *Limiter) pace(c *call, due, now time.Duration) {
	l.alarms.clear(&c.alarm)
	l.waiting[c.req.Class]--
	c.granted = due
	c.settle(nil, &Paced{Delay: due - now})
	method := l.penalties[Scope{Method: c.req.Method}]
	held := c.req.Method != "" && method != nil && method.until-now > longWait
	if c.lane.chat == 0 || held {
		c.lane.queues[c.req.Class].remove(c)
		return
	}
	l.alarms.set(&c.alarm, c, due+placeKept)
}

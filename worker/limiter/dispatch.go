package limiter

import "time"

// tick runs when the timer fires.
func (l *Limiter) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = never
	l.dispatch(l.now())
}

// dispatch grants all that may go now and sets the timer for what may go next.
// Everything that changes the state ends with it.
func (l *Limiter) dispatch(now time.Duration) {
	if l.stopped {
		return
	}
	for l.alarms.next() <= now {
		due := l.alarms[0]
		l.alarms.clear(due)
		due.owner.wake(l, now)
	}
	for more := true; more; {
		more = l.grantNext(&l.free, now) || l.grantNext(&l.paid, now)
	}
	l.arm(min(l.alarms.next(), l.free.openAt, l.paid.openAt), now)
}

func (l *Limiter) arm(at, now time.Duration) {
	if at == l.armed {
		return
	}
	l.armed = at
	if at == never {
		l.timer.Stop()
		return
	}
	l.timer.Reset(at - now)
}

// pool returns the budget that a request spends, or waits in.
func (l *Limiter) pool(req Request) *pool {
	if req.Paid && req.Counts {
		return &l.paid
	}
	return &l.free
}

// grantNext gives one lane of a pool its turn; false when none is ready or the bot
// is not.
func (l *Limiter) grantNext(p *pool, now time.Duration) bool {
	p.openAt = never
	ln, opens := p.turns.next(now)
	if len(l.held) > 0 {
		return false
	}
	if ln == nil {
		p.openAt = opens
		return false
	}
	if p.openAt = l.silent(now); p.openAt > now {
		return false
	}
	seat := ln.seat
	if l.evaluate(ln, now); ln.seat != seat || !ln.flow.open(now) {
		return true // it was not ready any more, or sits elsewhere: look again
	}
	if ln.offer.req.Counts {
		p.openAt = p.opens(now, ln.offer.req.Items)
	}
	if p.openAt > now {
		return false
	}
	l.give(ln, p, now)
	return true
}

// give grants the call a lane offers.
func (l *Limiter) give(ln *lane, p *pool, now time.Duration) {
	c := ln.offer
	l.withdraw(c)
	c.granted = now
	l.granted[c.req.Class]++
	l.probe(c, now)
	if c.req.Counts {
		p.served(ln, now)
		ln.stand()
		l.paces.spend(c, now)
		p.take(c, now)
		ln.granted(c)
		ln.inAir = append(ln.inAir, c)
		ln.recall(c, now)
	}
	c.settle(&Grant{limiter: l, call: c}, nil)
	l.evaluate(ln, now)
}

// withdraw takes a waiting call out of line.
func (l *Limiter) withdraw(c *call) {
	c.lane.queues[c.req.Class].remove(c)
	l.alarms.clear(&c.alarm)
	l.waiting[c.req.Class]--
}

// refuse ends a waiting call with an error.
func (l *Limiter) refuse(c *call, err error) {
	l.withdraw(c)
	c.settle(nil, err)
}

// evaluate settles whether a lane is ready, when it will be, or if it can go. It
// is called whenever anything about the lane may have changed.
func (l *Limiter) evaluate(ln *lane, now time.Duration) {
	on := l.penalties[Scope{Chat: ln.chat}]
	ln.offer = ln.choose(on, l.paces, now)
	for ln.offer != nil && l.banned(ln.offer, now) {
		ln.offer = ln.choose(on, l.paces, now)
	}
	if ln.offer == nil {
		ln.stand()
		l.rest(ln, now)
		return
	}
	at := max(ln.opens(ln.offer, now), l.barred(ln.offer, now))
	switch {
	case at <= now:
		l.alarms.clear(&ln.alarm)
		l.pool(ln.offer.req).join(ln, l.paces[ln.lead.req.Flow])
	case ln.offer.req.Transient:
		l.refuse(ln.offer, ErrDropped)
		l.evaluate(ln, now)
	default:
		ln.stand()
		l.alarms.set(&ln.alarm, ln, at)
	}
}

// rest forgets a lane that holds nothing any more, or comes back when it does.
func (l *Limiter) rest(ln *lane, now time.Duration) {
	at := ln.rests(now)
	if at > now {
		l.alarms.set(&ln.alarm, ln, at)
		return
	}
	l.alarms.clear(&ln.alarm)
	l.drop(ln)
}

// drop takes a lane out of memory; one for a single call was never in it.
func (l *Limiter) drop(ln *lane) {
	if l.lanes[ln.chat] == ln {
		delete(l.lanes, ln.chat)
		delete(l.learned, ln.chat)
	}
}

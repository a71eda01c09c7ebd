package limiter

import "time"

// barred returns when penalties on c's chat and method let it go; never while a
// probe is in the air, whose answer will wake c's lane.
func (l *Limiter) barred(c *call, now time.Duration) time.Duration {
	if len(l.penalties) == 0 {
		return now
	}
	at := now
	for _, scope := range c.scopes() {
		p := l.penalties[scope]
		if p == nil || scope == (Scope{}) { // the bot's is asked for by silent
			continue
		}
		if p.probe != nil {
			p.park(c.lane)
			return never
		}
		if !p.open(now) || !p.passes(c) {
			at = max(at, p.until)
		}
	}
	return at
}

// silent returns when the penalty on the whole bot lets anything go.
func (l *Limiter) silent(now time.Duration) time.Duration {
	p := l.penalties[Scope{}]
	switch {
	case p == nil:
		return now
	case p.probe != nil:
		return never
	}
	return max(now, p.until)
}

func (p *penalty) park(ln *lane) {
	if ln.parked != p {
		ln.parked = p
		p.parked = append(p.parked, ln)
	}
}

// probe makes c, just granted, the probe of all penalties that could have held
// it: the ended ones, and the one it scouts.
func (l *Limiter) probe(c *call, now time.Duration) {
	if len(l.penalties) == 0 {
		return
	}
	for _, scope := range c.scopes() {
		if p := l.penalties[scope]; p != nil {
			p.probe, c.probing = c, true
			p.scouting = now < p.until
		}
	}
}

// probed ends the penalties whose probe c was, unless it never left or they were
// renewed meanwhile: then they want another one.
func (l *Limiter) probed(c *call, answered bool, now time.Duration) {
	if !c.probing {
		return
	}
	for _, scope := range c.scopes() {
		if p := l.penalties[scope]; p != nil && p.probe == c {
			l.resolve(p, answered && !p.again, now)
		}
	}
}

func (l *Limiter) resolve(p *penalty, over bool, now time.Duration) {
	scouted := p.scouting && now < p.until
	p.probe, p.again, p.scouting = nil, false, false
	if over {
		l.alarms.clear(&p.alarm)
		delete(l.penalties, p.scope)
	}
	if over && scouted {
		l.narrow(p, now)
	}
	if over && p.scope.Chat != 0 {
		ln := l.lane(p.scope.Chat, now)
		ln.budget.drain(now)
		l.evaluate(ln, now)
	}
	parked := p.parked
	p.parked = nil
	for _, ln := range parked {
		if ln.parked == p {
			ln.parked = nil
		}
		l.evaluate(ln, now)
	}
}

// narrow puts the rest of a scouted penalty on the methods that were refused, and
// gives up the places that their calls keep.
func (l *Limiter) narrow(p *penalty, now time.Duration) {
	for _, method := range p.refused {
		l.impose(Scope{Chat: p.scope.Chat, Method: method}, "", p.until, now)
	}
	l.recoverFrom(p.scope, now)
	l.signal()
	ln := l.lane(p.scope.Chat, now)
	for _, c := range ln.calls() {
		if c.settled && !p.passes(c) {
			l.alarms.clear(&c.alarm)
			ln.queues[c.req.Class].remove(c)
		}
	}
}

// wake forgets an ended penalty that nobody came to probe.
func (p *penalty) wake(l *Limiter, now time.Duration) {
	if p.probe != nil || l.wanted(p.scope) {
		l.alarms.set(&p.alarm, p, now+probeMemory)
		return
	}
	delete(l.penalties, p.scope)
}

// wanted reports whether calls of a scope may be under way. Those of a method are
// not counted apart.
func (l *Limiter) wanted(scope Scope) bool {
	if scope.Chat == 0 {
		return l.waiting != [classes]int{}
	}
	ln := l.lanes[scope.Chat]
	return ln != nil && !ln.idle()
}

package limiter

import "time"

const (
	widenAfter  = 3               // chats with a 429 that make it the bot's
	widenWithin = 2 * time.Second // of each other
	probeMemory = time.Minute     // how long an ended penalty of an idle chat asks for a probe
	longest     = 10 * 365 * 24 * time.Hour
)

// Scope is what a penalty holds: all methods of Chat; or, with Chat 0, all calls
// of Method; or, when both are zero, the whole bot.
type Scope struct {
	Chat   int64
	Method string
}

// penalty is Telegram's 429 for one scope. It lasts until its end and then until
// one probe, alone, has been answered without a new one.
type penalty struct {
	alarm
	scope  Scope
	until  time.Duration
	probe  *call   // in the air
	again  bool    // it was renewed while the probe was in the air
	parked []*lane // wait for the probe's answer
}

// Penalize records that Telegram asked for silence in a scope until the given
// time. No call of the scope is granted before; at that time one probe goes
// alone, and after its [Grant.Done] the even rate begins. A shorter time never
// replaces a longer one. Call it before Done of the call that was refused, or
// its Done counts as success. Three chats penalized within two seconds mean the
// whole bot, until the latest of their ends. With a Chat the Method is ignored.
func (l *Limiter) Penalize(scope Scope, until time.Time) {
	if scope.Chat != 0 {
		scope.Method = ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	wall := time.Now()
	now := wall.Sub(l.born)
	at := now + min(max(until.Sub(wall), 0), longest)
	l.impose(scope, at, now)
	if scope.Chat != 0 {
		l.widen(scope.Chat, at, now)
	}
	l.dispatch(now)
}

func (l *Limiter) impose(scope Scope, at, now time.Duration) {
	p := l.penalties[scope]
	if p == nil {
		p = &penalty{scope: scope}
		l.penalties[scope] = p
	}
	p.until = max(p.until, at)
	p.again = p.probe != nil
	if scope.Chat == 0 {
		return
	}
	l.alarms.set(&p.alarm, p, p.until+probeMemory)
	if ln := l.lanes[scope.Chat]; ln != nil {
		l.sendAway(ln, p, now)
		l.evaluate(ln, now)
	}
}

// sendAway paces all who wait for a chat whose penalty is long.
func (l *Limiter) sendAway(ln *lane, p *penalty, now time.Duration) {
	if p.until-now <= longWait {
		return
	}
	for _, c := range ln.live() {
		l.pace(c, ln.forecast(c, now, p.until), now)
	}
}

// refusal is a recent penalty on a chat.
type refusal struct {
	chat      int64
	at, until time.Duration
}

// widen penalizes the bot when several chats were refused at about one time.
func (l *Limiter) widen(chat int64, until, now time.Duration) {
	recent := l.refusals[:0]
	latest := until
	for _, r := range l.refusals {
		if r.chat != chat && now-r.at <= widenWithin {
			recent = append(recent, r)
			latest = max(latest, r.until)
		}
	}
	l.refusals = append(recent, refusal{chat: chat, at: now, until: until})
	if len(l.refusals) >= widenAfter {
		l.impose(Scope{}, latest, now)
	}
}

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
		at = max(at, p.until)
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

// probe makes c, just granted, the probe of all ended penalties that held it.
func (l *Limiter) probe(c *call) {
	if len(l.penalties) == 0 {
		return
	}
	for _, scope := range c.scopes() {
		if p := l.penalties[scope]; p != nil {
			p.probe, c.probing = c, true
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
	p.probe, p.again = nil, false
	if over {
		l.alarms.clear(&p.alarm)
		delete(l.penalties, p.scope)
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

// wake forgets an ended penalty that nobody came to probe.
func (p *penalty) wake(l *Limiter, now time.Duration) {
	if p.probe != nil || l.lanes[p.scope.Chat] != nil {
		l.alarms.set(&p.alarm, p, now+probeMemory)
		return
	}
	delete(l.penalties, p.scope)
}

package limiter

import (
	"slices"
	"time"
)

const (
	widenAfter  = 3               // chats with a 429 that make it the bot's
	widenWithin = 2 * time.Second // of each other
	longest     = 10 * 365 * 24 * time.Hour
)

// Penalize records that Telegram asked for silence until the given time. The
// scope is the refused call's chat and method; the method alone if it named no
// chat; nothing for the whole bot. No call of the scope is granted before; at
// that time one probe goes alone, and after its [Grant.Done] the even rate
// begins. A shorter time never replaces a longer one. Call it before Done of the
// call that was refused, or its Done counts as success.
//
// With a chat all its methods are silent at first, since Telegram does not say
// which it means. If that is for more than 60 s, one counted call of another
// method goes as a scout as soon as the chat's limits allow it. Answered without
// a new penalty, it narrows the silence to the refused methods of the chat;
// refused, it confirms it for all. Three chats penalized within two seconds mean
// the whole bot, until the latest of their ends, unless a counted call to a chat
// was granted after theirs and has its answer: then the bot is not silenced.
//
// A penalty on a chat or on the bot that does not fall into another one also
// halves the scope's rate, down to an eighth; the rate comes back by an eighth
// each 30 s after the penalty.
func (l *Limiter) Penalize(scope Scope, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	wall := time.Now()
	now := wall.Sub(l.born)
	at := now + min(max(until.Sub(wall), 0), longest)
	scope.Chat = l.present(scope.Chat, now)
	l.failProbes(scope)
	if scope.Chat == 0 {
		l.impose(scope, "", at, now)
	} else {
		l.impose(Scope{Chat: scope.Chat}, scope.Method, at, now)
		l.widen(refusal{chat: scope.Chat, granted: l.convict(scope, now), at: now, until: at}, now)
	}
	l.signal()
	l.dispatch(now)
}

// failProbes sees to it that penalties whose probe was refused want another one.
// What holds more than the refused scope is not prolonged by it.
func (l *Limiter) failProbes(refused Scope) {
	probe := call{req: Request{Chat: refused.Chat, Method: refused.Method}}
	for _, scope := range probe.scopes() {
		p := l.penalties[scope]
		if p != nil && p.probe != nil && p.probe.req.Chat == refused.Chat && p.probe.req.Method == refused.Method {
			p.again = true
		}
	}
}

// impose starts or prolongs a penalty. One on a chat remembers which method was
// refused.
func (l *Limiter) impose(scope Scope, method string, at, now time.Duration) {
	p := l.penalties[scope]
	if p == nil {
		p = &penalty{scope: scope, until: now}
		l.penalties[scope] = p
	}
	if p.until <= now {
		p.refused, p.long, p.scouting, p.confirmed = nil, false, false, false
		l.learn(scope, now)
	}
	p.until = max(p.until, at)
	l.recoverFrom(scope, p.until)
	p.long = p.long || at-now > scoutAfter
	p.again = p.probe != nil
	p.confirmed = p.confirmed || p.scouting
	if scope.Chat != 0 && scope.Method == "" {
		p.refuse(method)
	}
	l.enact(p, now)
}

// enact makes a new or changed penalty felt by those who wait.
func (l *Limiter) enact(p *penalty, now time.Duration) {
	if p.scope == (Scope{}) {
		return
	}
	l.alarms.set(&p.alarm, p, p.until+probeMemory)
	ln := l.lanes[p.scope.Chat]
	if ln == nil {
		return
	}
	if p.scope.Method == "" {
		l.sendAway(ln, p, now)
	}
	l.evaluate(ln, now)
}

// sendAway paces all who wait for a chat whose penalty is long, but for those who
// may scout it.
func (l *Limiter) sendAway(ln *lane, p *penalty, now time.Duration) {
	if p.until-now <= longWait {
		return
	}
	for _, c := range ln.live() {
		if !p.open(now) || !p.passes(c) {
			l.pace(c, ln.forecast(c, now, p.until), now, false)
		}
	}
}

// refusal is a recent penalty on a chat.
type refusal struct {
	chat      int64
	granted   time.Duration // when the refused call was
	at, until time.Duration
}

// convict marks the call in the air that was refused, and returns when it was
// granted; now, if it is not known.
func (l *Limiter) convict(scope Scope, now time.Duration) time.Duration {
	if ln := l.lanes[scope.Chat]; ln != nil {
		for _, c := range ln.inAir {
			if c.req.Method == scope.Method {
				c.mute = true
				return c.granted
			}
		}
	}
	return now
}

// widen penalizes the bot when several chats were refused at about one time.
func (l *Limiter) widen(last refusal, now time.Duration) {
	recent := l.refusals[:0]
	latest := last.until
	for _, r := range l.refusals {
		if r.chat != last.chat && now-r.at <= widenWithin {
			recent = append(recent, r)
			latest = max(latest, r.until)
		}
	}
	l.refusals = append(recent, last)
	if len(l.refusals) >= widenAfter {
		l.impose(Scope{}, "", latest, now)
	}
}

// acquit takes an answered call for proof that the bot was not silenced when
// those granted before it were refused.
func (l *Limiter) acquit(c *call) {
	if !c.mute && len(l.refusals) > 0 {
		l.refusals = slices.DeleteFunc(l.refusals, func(r refusal) bool { return r.granted < c.granted })
	}
}

func (l *Limiter) mute(c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.mute = true
}

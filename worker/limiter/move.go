package limiter

import (
	"slices"
	"time"
)

// moveMemory is how long calls for the old id of a chat are told the new one. It
// outlives every call that was on its way; what comes later is refused by
// Telegram with the new id.
const moveMemory = time.Hour

// move is where a chat has gone.
type move struct {
	to    int64
	until time.Duration
}

// Move records that a group has become a supergroup and so has another id. The
// new id takes over what the old one was charged, has learned and is forbidden,
// the later end of two counting. Calls that wait for the old one end with
// [*Moved], and so do all that ask for it in the next hour. Of two moves that
// contradict each other the later one counts.
func (l *Limiter) Move(from, to int64) {
	if from == to || from == 0 || to == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for chat, m := range l.moves {
		if m.until <= now {
			delete(l.moves, chat)
		}
	}
	delete(l.moves, to) // so that to leads nowhere, and no cycle can close
	l.moves[from] = move{to: to, until: now + moveMemory}
	l.redirect(from, to)
	l.bequeath(from, to, now)
	for scope, p := range l.penalties {
		if scope.Chat == from {
			l.transfer(p, Scope{Chat: to, Method: scope.Method}, now)
		}
	}
	l.dispatch(now)
}

// present returns the id under which a chat is known now.
func (l *Limiter) present(chat int64, now time.Duration) int64 {
	for {
		m, moved := l.moves[chat]
		if !moved || m.until <= now {
			return chat
		}
		chat = m.to
	}
}

// redirect ends all calls that wait for a chat. Each of them has an alarm.
func (l *Limiter) redirect(from, to int64) {
	for _, a := range slices.Clone(l.alarms) {
		if c, waits := a.owner.(*call); waits && !c.settled && c.req.Chat == from {
			l.refuse(c, &Moved{To: to})
		}
	}
}

// bequeath hands over what is remembered of a chat, and its calls in the air.
func (l *Limiter) bequeath(from, to int64, now time.Duration) {
	old := l.lanes[from]
	if old == nil {
		return
	}
	heir := l.lane(to, now)
	for _, c := range old.inAir {
		c.lane, c.req.Chat = heir, to
	}
	heir.inAir = append(heir.inAir, old.inAir...)
	heir.budget.absorb(&old.budget, now)
	heir.edits.absorb(&old.edits)
	if l.learned[from] != nil {
		l.learned[to] = heir
	}
	l.discard(old)
	l.evaluate(heir, now)
}

// discard forgets a lane in which only places are kept.
func (l *Limiter) discard(ln *lane) {
	for class := range ln.queues {
		ln.queues[class].root.walk(func(c *call) { l.alarms.clear(&c.alarm) })
		ln.queues[class] = queue{}
	}
	l.alarms.clear(&ln.alarm)
	ln.stand()
	l.drop(ln)
}

// transfer puts a penalty on another scope, onto the one that may be there.
func (l *Limiter) transfer(p *penalty, scope Scope, now time.Duration) {
	delete(l.penalties, p.scope)
	l.alarms.clear(&p.alarm)
	if p.probe != nil {
		p.probe.req.Chat = scope.Chat
	}
	p.parked = nil // all who waited for it were sent on
	if there := l.penalties[scope]; there != nil {
		there.merge(p)
		p = there
	}
	p.scope = scope
	l.penalties[scope] = p
	l.enact(p, now)
}

// merge takes another penalty's facts over. If each has a probe in the air the
// other's decides nothing any more.
func (p *penalty) merge(other *penalty) {
	p.until = max(p.until, other.until)
	p.long, p.confirmed = p.long || other.long, p.confirmed || other.confirmed
	for _, method := range other.refused {
		p.refuse(method)
	}
	if p.probe == nil {
		p.probe, p.scouting, p.again = other.probe, other.scouting, other.again
	}
}

package limiter

import (
	"slices"
	"time"
)

const (
	scoutAfter  = time.Minute // a longer penalty on a chat may be one method's only
	mostRefused = 16          // methods remembered of one penalty; more: it is the chat's
	probeMemory = time.Minute // how long an ended penalty of an idle scope asks for a probe
)

// Scope is what a penalty holds: all methods of Chat; one Method of it; or, with
// Chat 0, all calls of Method; or, when both are zero, the whole bot.
type Scope struct {
	Chat   int64
	Method string
}

// penalty is Telegram's 429 for one scope. It lasts until its end and then until
// one probe, alone, has been answered without a new one. One on a chat may be
// scouted before: see [Limiter.Penalize].
type penalty struct {
	alarm
	scope  Scope
	until  time.Duration
	probe  *call   // in the air, or the scout
	again  bool    // it was renewed while the probe was in the air
	parked []*lane // wait for the probe's answer

	refused   []string // methods that were answered 429
	long      bool     // when it was imposed
	scouting  bool     // the probe is a scout
	confirmed bool     // it is known to hold all methods of the chat
}

// refuse remembers a method; one without a name stands for all.
func (p *penalty) refuse(method string) {
	if !slices.Contains(p.refused, method) {
		p.refused = append(p.refused, method)
	}
	if method == "" || len(p.refused) > mostRefused {
		p.confirmed = true
	}
}

// open reports whether it may yet turn out that p, which may be nil, holds some
// methods of its chat only.
func (p *penalty) open(now time.Duration) bool {
	return p != nil && p.scope.Chat != 0 && p.scope.Method == "" && p.long && !p.confirmed && now < p.until
}

// passes reports whether c may go through p, while it is open, as its scout. A
// call that does not count proves nothing about those that do, and a transient
// one is not worth it.
func (p *penalty) passes(c *call) bool {
	return c.req.Counts && !c.req.Transient && c.req.Method != "" && !p.refuses(c)
}

func (p *penalty) refuses(c *call) bool {
	return slices.Contains(p.refused, c.req.Method)
}

// signal tells the holder of Changed.
func (l *Limiter) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// Changed is signalled when a penalty is imposed or narrowed, so that the [State] can
// be saved at once. Several signals may come as one.
func (l *Limiter) Changed() <-chan struct{} {
	return l.changed
}

// Until returns the end of the penalty on exactly this scope: a chat's does not
// tell of its methods. It is zero if there is none, and in the past for one that
// waits for its probe.
func (l *Limiter) Until(scope Scope) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.penalties[scope]; p != nil {
		return l.born.Add(p.until)
	}
	return time.Time{}
}

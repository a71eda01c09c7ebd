package limiter

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	longWait    = 5 * time.Second // a longer wait for a chat or method is not held
	placeKept   = 2 * time.Second // after the time a paced call was told
	stopDelay   = time.Second     // told to all when the limiter stops
	chargeGroup = time.Minute     // after New, how long an unseen group is charged
)

// Limiter is the budget of one bot. Its methods may be called from any
// goroutine. Make it with [New]; the zero value is not usable.
type Limiter struct {
	cfg            Config
	private, group *rule
	born           time.Time

	mu        sync.Mutex
	lanes     map[int64]*lane
	learned   map[int64]*lane // those whose share may be below the whole
	penalties map[Scope]*penalty
	refusals  []refusal
	moves     map[int64]move
	held      map[string]struct{}
	air       air
	free      pool // what Telegram takes for nothing, and what spends nothing
	paid      pool // what it is paid for
	paces     paces
	alarms    alarms
	timer     *time.Timer
	armed     time.Duration
	seq       uint64
	waiting   [classes]int
	granted   [classes]uint64
	stopped   bool
	changed   chan struct{}
}

// New returns a limiter that starts as if the bot had just been sending at its
// even rate, because what an earlier process sent is not known. It panics on a
// configuration that [Config.Validate] refuses. It needs no closing.
func New(cfg Config) *Limiter {
	if err := cfg.Validate(); err != nil {
		panic(fmt.Errorf("limiter: %w", err))
	}
	l := &Limiter{
		cfg: cfg, private: cfg.privateRule(), group: cfg.groupRule(), born: time.Now(),
		lanes: map[int64]*lane{}, learned: map[int64]*lane{}, penalties: map[Scope]*penalty{},
		moves: map[int64]move{}, held: map[string]struct{}{}, changed: make(chan struct{}, 1),
		air: air{slots: cfg.InFlight}, paces: paces{}, armed: never,
	}
	l.free = pool{bot: newBot(cfg.GlobalPerSecond, &l.air), openAt: never}
	l.paid = pool{bot: newBot(cfg.PaidPerSecond, &l.air), openAt: never}
	l.paid.fill()
	l.timer = time.AfterFunc(never, l.tick)
	l.timer.Stop()
	return l
}

// Acquire waits until the call may leave and returns its grant, which must end in
// [Grant.Done] or [Grant.Cancel]. It waits in place for the bot (pace, window,
// slots, a penalty on all, [Limiter.Hold]) however long that takes; a caller that
// bounds it with ctx may ask again, and [Request.Since] puts the call in its old
// place. If the chat, or a penalty on the method, makes the call wait longer than
// 5 s it returns [*Paced]: at once when that is known beforehand, after 5 s when
// another call to the chat stays in the air. A call may also end with [*Moved],
// [ErrSuperseded] or [ErrDropped]. Other errors are those of ctx and of a request
// that is not valid; ctx does not limit the grant once it is given.
func (l *Limiter) Acquire(ctx context.Context, req Request) (*Grant, error) {
	if err := req.validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("wait for the limiter: %w", err)
	}
	c := l.enter(req)
	if c.done == nil {
		return c.grant, c.err
	}
	select {
	case <-c.done:
		return c.grant, c.err
	case <-ctx.Done():
		return nil, l.abandon(c, fmt.Errorf("wait for the limiter: %w", ctx.Err()))
	}
}

// enter puts a call into its lane and settles it if it need not wait.
func (l *Limiter) enter(req Request) *call {
	if req.Since.IsZero() {
		req.Since = time.Now()
	}
	c := &call{req: req, since: req.Since.UnixNano(), order: req.Since.UnixNano()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		c.settle(nil, &Paced{Delay: stopDelay})
		return c
	}
	now := l.now()
	if to := l.present(req.Chat, now); to != req.Chat {
		c.settle(nil, &Moved{To: to})
		return c
	}
	l.admit(c, now)
	l.evaluate(c.lane, now)
	l.dispatch(now)
	if !c.settled {
		c.done = make(chan struct{})
	}
	return c
}

// admit puts c into line, unless it is of no use any more.
func (l *Limiter) admit(c *call, now time.Duration) {
	if c.req.Counts && c.req.Chat != 0 {
		c.lane = l.lane(c.req.Chat, now)
	} else {
		c.lane = &lane{}
	}
	if c.req.Counts && c.req.Flow != "" {
		l.paces.set(c, now)
	}
	if c.req.Transient {
		l.admitTransient(c, now)
		return
	}
	l.yield(c.lane)
	if c.req.coalesces() && !l.supersede(c, now) {
		c.settle(nil, ErrSuperseded)
		return
	}
	l.line(c)
	l.reconsider(c, now)
}

// line takes c's place in its lane: the kept one if it comes back.
func (l *Limiter) line(c *call) {
	l.seq++
	c.seq = l.seq
	queue := &c.lane.queues[c.req.Class]
	if place := queue.at(c.order, func(p *call) bool { return c.same(p) }); place != nil {
		c.seq = place.seq
		queue.remove(place)
		l.alarms.clear(&place.alarm)
	}
	queue.insert(c)
	l.waiting[c.req.Class]++
}

// lane returns the chat's lane, made if nothing is remembered of the chat.
func (l *Limiter) lane(chat int64, now time.Duration) *lane {
	if ln := l.lanes[chat]; ln != nil {
		return ln
	}
	ln := l.newLane(chat)
	if now < chargeGroup {
		l.charge(ln)
	}
	return ln
}

func (l *Limiter) newLane(chat int64) *lane {
	ln := &lane{chat: chat, budget: newBudget(l.private)}
	if chat < 0 {
		ln.budget = newBudget(l.group)
	}
	l.lanes[chat] = ln
	return ln
}

// charge counts what a killed process may have sent to a group at last. It takes
// the burst, too, and no more: the rest of it that process sent at the even rate.
func (l *Limiter) charge(ln *lane) {
	if ln.chat < 0 && l.cfg.GroupCharge > 0 && l.group != nil {
		ln.budget.add(0, l.cfg.GroupCharge)
		ln.budget.drain(0)
	}
}

// abandon takes back a call whose context ended; a grant that came at the same
// moment is given back.
func (l *Limiter) abandon(c *call, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	switch {
	case c.grant != nil:
		c.grant.end(false, now)
	case !c.settled:
		l.refuse(c, err)
	}
	l.evaluate(c.lane, now)
	l.dispatch(now)
	return err
}

// Stop ends all waiting: from now on Acquire returns [*Paced] with a delay of 1 s
// at once, to those already waiting too. Calls in the air still end with Done.
func (l *Limiter) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.timer.Stop()
	for _, a := range l.alarms {
		if c, waits := a.owner.(*call); waits && !c.settled {
			l.waiting[c.req.Class]--
			c.settle(nil, &Paced{Delay: stopDelay})
		}
	}
}

func (l *Limiter) now() time.Duration {
	return time.Since(l.born)
}

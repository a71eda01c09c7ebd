package worker

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

const (
	// airTime is what requests in the air get when a term ends. What is not
	// answered by then has an unknown outcome.
	airTime = 15 * time.Second
	// slotsFull is how long the calls that wait keep their slots when the senders
	// have been told to stop. While slots are full nobody polls; a poll that is cut
	// may just have been given a call, which then has nobody until its heartbeat
	// is missed, and is taken for one that may have been sent.
	slotsFull = 50 * time.Millisecond
	// killCharge is what each group is taken to have had at the moment when a term
	// follows a killed one, whose last seconds nobody knows.
	killCharge = 10
	// mostTails bounds a hand-over. A successor without tails looks them up.
	mostTails = 5000
)

// term is one time on duty: the budget and everything that talks to Telegram.
type term struct {
	*process
	lease   *activities.Lease
	limiter *limiter.Limiter
	chats   *starter.Chats
	road    *activities.Road
	tails   *starter.Tails
	hearing hearing // of the poller alone
	sent    tally   // the calls delivered
	senders senders

	ctx     context.Context    //nolint:containedctx // the life of the term's background, longer than the call that began it
	cancel  context.CancelFunc // ends ctx
	cut     context.CancelFunc // ends the requests in the air
	intake  context.CancelFunc // ends polling, or has posts passed on
	polling sync.WaitGroup     // of either
	group   sync.WaitGroup     // of everything else in the background

	over   chan struct{} // closed when the term must end
	ended  chan struct{} // closed when it has
	overOf sync.Once
	endOf  sync.Once
	leaves contract.Handover
}

func newTerm(ctx context.Context, p *process, in activities.TermInput) *term {
	t := &term{process: p, lease: in.Lease, over: make(chan struct{}), ended: make(chan struct{})}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.limiter = p.restore(in)
	t.chats = starter.NewChats(p.Temporal, p.Token.BotID(), p.attributes, p.Log)
	t.tails = starter.NewTails(p.turns.Finished)
	t.road = activities.NewRoad(t.reach, t.away, p.Log)
	air, cut := context.WithCancel(context.WithoutCancel(ctx))
	t.cut = cut
	sender := activities.NewSender(air, in.Lease.Guard(p.Telegram), budget{t.limiter, p.Metrics}, p.Temporal, p.answers)
	sender.Chats, sender.Road, sender.Unauthorized, sender.Ended = t.chats, t.road, t.unauthorized, t.count
	sender.Histories = p.Temporal
	t.senders = newSenders(p.Temporal, p.Token.BotID(), sender, sendSlots(p.Limits), p.fail)
	return t
}

// restore is a limiter with what the last holder knew.
func (p *process) restore(in activities.TermInput) *limiter.Limiter {
	cfg := p.Limits
	if in.Killed {
		cfg.GroupCharge = killCharge
	}
	var state limiter.State
	if in.From != nil && len(in.From.Limiter) > 0 {
		if err := json.Unmarshal(in.From.Limiter, &state); err != nil {
			p.Log.Error("the last holder's budget cannot be read: starting without it", "error", err)
		}
	}
	return limiter.Restore(cfg, state)
}

// start starts the senders and, behind them, what runs in the background.
func (t *term) start(from *contract.Handover) error {
	if from != nil {
		t.chats.Restore(from.Chats)
		t.sent.restore(from.Delivered)
	}
	if err := t.senders.start(); err != nil {
		return err
	}
	t.group.Go(func() { t.road.Run(t.ctx) })
	t.group.Go(t.loadChats)
	t.report()
	t.startIntake(from)
	return nil
}

// loadChats learns the marks of chats from Temporal, again until it succeeds.
func (t *term) loadChats() {
	penalize := func(chat int64, method string, until time.Time) {
		t.limiter.Penalize(limiter.Scope{Chat: chat, Method: method}, until)
	}
	for t.ctx.Err() == nil {
		err := t.chats.Load(t.ctx, penalize, t.limiter.Move)
		if err == nil {
			return
		}
		if t.ctx.Err() == nil {
			t.Log.WarnContext(t.ctx, "marks of chats not loaded: trying again", "error", err)
		}
		wait(t.ctx, checkEvery)
	}
}

// reach asks getMe for the road, like every request of a term only with the lease.
func (t *term) reach(ctx context.Context) error {
	if !t.lease.Fresh(activities.SendLease) {
		return activities.ErrNotOnDuty
	}
	return t.probe(ctx)
}

// away holds all sending while Telegram cannot be reached.
func (t *term) away(yes bool) {
	if yes {
		t.limiter.Hold(contract.HeldAway)
		t.Health.Degrade(telemetry.PartTelegram, "Telegram cannot be reached: sending waits")
		return
	}
	t.limiter.Release(contract.HeldAway)
	t.Health.Well(telemetry.PartTelegram)
}

// pause holds all sending for as long as an operator wants it.
func (t *term) pause(yes bool) {
	if yes {
		t.limiter.Hold(contract.HeldPaused)
		return
	}
	t.limiter.Release(contract.HeldPaused)
}

// unauthorized is told by the sender what Telegram says of the token.
func (t *term) unauthorized(refused bool) {
	if refused {
		t.refuse()
	}
}

// refuse ends the term, and bars the process from the next, because Telegram
// refuses the token.
func (t *term) refuse() {
	t.Health.Down(telemetry.PartToken, "Telegram refuses the bot token: start a process with a valid one")
	t.bar(true)
	select {
	case t.refused <- struct{}{}:
	default:
	}
	t.finish()
}

// Urgent asks for a heartbeat at once: a penalty must outlive this process.
func (t *term) Urgent() <-chan struct{} { return t.limiter.Changed() }

// Over is closed when the term must end.
func (t *term) Over() <-chan struct{} { return t.over }

// finish makes the term end soon.
func (t *term) finish() { t.overOf.Do(func() { close(t.over) }) }

// End lets go in the order that loses nothing and returns what a successor
// needs. If the process stops, its workflows and handlers stop in between.
func (t *term) End() contract.Handover {
	t.endOf.Do(func() {
		defer close(t.ended)
		cutter := time.AfterFunc(airTime, t.cut)
		defer cutter.Stop()
		t.intake()
		stopped := t.senders.stopping()
		wait(t.ctx, slotsFull)
		t.limiter.Stop()
		t.polling.Wait()
		t.Log.InfoContext(t.ctx, "intake and grants stopped")
		if t.isStopping() {
			t.stopMain()
		}
		stopped()
		t.leaves = t.handover()
		t.leaves.Tails = t.tails.Snapshot(mostTails)
		t.cancel()
		t.group.Wait()
		t.left(t)
		t.Metrics.Budget(contract.Figures{})
		t.Log.InfoContext(t.ctx, "off duty")
	})
	return t.leaves
}

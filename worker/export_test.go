package worker

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

// What the tests reach beside the exported names.
var (
	KnowsAttributes = knowsAttributes
	MainOptions     = mainOptions
	DutyOptions     = dutyOptions
	SendOptions     = sendOptions
	SendSlots       = sendSlots
	Figures         = figures
)

// What the tests compare with.
const (
	AirTime        = airTime
	UnlimitedSlots = unlimitedSlots
)

// NewBudget lends a limiter to a sender.
func NewBudget(l *limiter.Limiter, m *telemetry.Metrics) activities.Budget { return budget{l, m} }

// NewWatch tells health and metrics how polling goes.
func NewWatch(h *telemetry.Health, m *telemetry.Metrics, refused func()) starter.Watch {
	return &watch{Health: h, Metrics: m, hearing: &hearing{}, refused: refused}
}

// Process is a process made of other parts than Run would make.
type Process struct{ *process }

// NewProcess returns one with this main worker and this way to ask getMe.
func NewProcess(o Options, main worker.Worker, probe func(context.Context) error) Process {
	p := &process{Options: o, main: main, probe: probe, refused: make(chan struct{}, 1)}
	p.fail = func(error) {}
	return Process{p}
}

// Watch asks Temporal for its health until ctx ends.
func (p Process) Watch(ctx context.Context) { p.watchTemporal(ctx) }

// LookAtDuty looks who is on duty.
func (p Process) LookAtDuty(ctx context.Context) { p.lookAtDuty(ctx) }

// Seek asks for the duty until ctx ends.
func (p Process) Seek(ctx context.Context, seeker func() worker.Worker) { p.seekDuty(ctx, seeker) }

// Stop stops the process.
func (p Process) Stop(ctx context.Context) { p.stop(ctx) }

// Begin starts a term.
func (p Process) Begin(ctx context.Context, in activities.TermInput) (activities.Term, error) {
	return p.begin(ctx, in)
}

// Term is a term made of other parts than a process would make.
type Term struct{ *term }

// NewTerm puts the process on duty with these senders; polling is over when
// polled returns, and cut ends the requests in the air.
func (p Process) NewTerm(all []worker.Worker, polled func(context.Context), cut context.CancelFunc) Term {
	t := &term{
		process: p.process, limiter: limiter.New(p.Limits), lease: activities.NewLease(),
		chats: starter.NewChats(p.Temporal, 7, false, slog.New(slog.DiscardHandler)),
		tails: starter.NewTails(func(string) bool { return false }), senders: all, cut: cut, over: make(chan struct{}),
		ended: make(chan struct{}),
	}
	t.road = activities.NewRoad(p.probe, t.away, p.Log)
	t.ctx, t.cancel = context.WithCancel(context.Background()) // ends with End
	ctx, cancel := context.WithCancel(t.ctx)
	t.intake = cancel
	t.polling.Go(func() { polled(ctx) })
	p.term = t
	return Term{t}
}

// Limiter is the term's budget.
func (t Term) Limiter() *limiter.Limiter { return t.limiter }

// Tails are the term's.
func (t Term) Tails() *starter.Tails { return t.tails }

// Lease is the term's.
func (t Term) Lease() *activities.Lease { return t.lease }

// Unauthorized is what the sender calls.
func (t Term) Unauthorized(refused bool) { t.unauthorized(refused) }

// Away is what the road calls.
func (t Term) Away(yes bool) { t.away(yes) }

// Listen polls this Telegram, from where a predecessor left off in order.
func (t Term) Listen(api *telegram.Client) {
	t.Telegram, t.process.Poll = api, true
	t.startIntake(&contract.Handover{Clean: true, Tails: []contract.Tail{}})
}

// TakePosts takes what is posted, from where a predecessor left off in order.
func (t Term) TakePosts(api *telegram.Client, posts *starter.Webhook) {
	t.Telegram, t.Webhook = api, posts
	t.startIntake(&contract.Handover{Clean: true, Tails: []contract.Tail{}})
}

// Relaying passes posts on by another, and tells health.
func (p Process) Relaying(by starter.Passing) starter.Passing { return relaying{by, p.process} }

// Report tells how the bot is doing until the term ends.
func (t Term) Report() { t.report() }

// Ended is what the sender calls.
func (t Term) Ended(s activities.Sent) { t.count(s) }

// Hand is what the term would hand over now.
func (t Term) Hand() contract.Handover { return t.handover() }

// Take takes over the deliveries that a predecessor counted.
func (t Term) Take(from contract.Tally) { t.sent.restore(from) }

// Pause is what an operator's pause does.
func (t Term) Pause(yes bool) { t.pause(yes) }

// Poll makes one poll through the term's lease and penalties.
func (t Term) Poll(ctx context.Context, api *telegram.Client) ([]json.RawMessage, error) {
	return source{api, t.term}.Updates(ctx, telegram.UpdatesRequest{Limit: 1})
}

// Restore is the limiter that a term begins with.
func (p Process) Restore(from *contract.Handover, killed bool) *limiter.Limiter {
	return p.restore(activities.TermInput{From: from, Killed: killed})
}

// Register makes the real workers on a client and starts none.
func Register(c client.Client, bot int64) {
	newMain(c, bot, activities.NewTurns(c), &activities.Handling{}, nil)
	newDuty(c, bot, &activities.Duty{}, nil)
	newSenders(c, bot, &activities.Sender{}, sendSlots(limiter.DefaultConfig()), nil)
}

// StartSenders starts these.
func StartSenders(all ...worker.Worker) error { return senders(all).start() }

// Tally counts deliveries.
type Tally struct{ tally }

// Add counts one.
func (t *Tally) Add(at time.Time) { t.add(at) }

// Sum is how many there were in the day before at.
func (t *Tally) Sum(at time.Time) int { return t.sum(at) }

// State is what a successor goes on with.
func (t *Tally) State() contract.Tally { return t.state() }

// Restore goes on with what a predecessor counted.
func (t *Tally) Restore(from contract.Tally) { t.restore(from) }

// Pulse shows health that a batch is being stored.
func Pulse(c starter.Client, h *telemetry.Health) starter.Client { return pulse{c, h} }

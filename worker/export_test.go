package worker

import (
	"context"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

// What the tests reach beside the exported names.
var (
	KnowsAttributes = knowsAttributes
	MainOptions     = mainOptions
	SendOptions     = sendOptions
)

// What the tests compare with.
const (
	AirTime        = airTime
	SendSlots      = sendSlots
	UnlimitedSlots = unlimitedSlots
)

// NewBudget lends a limiter to a sender.
func NewBudget(l *limiter.Limiter) activities.Budget { return budget{l} }

// NewWatch tells health and metrics how polling goes.
func NewWatch(h *telemetry.Health, m *telemetry.Metrics) starter.Watch { return watch{h, m} }

// Process is a process made of other parts than Run would make.
type Process struct{ *process }

// NewProcess returns one with these workers; cut ends the requests in the air.
func NewProcess(o Options, main, send, answer worker.Worker, cut context.CancelFunc) Process {
	return Process{&process{
		Options: o, limiter: limiter.New(o.Limits), queues: &queues{main: main, send: send, answer: answer}, cut: cut,
	}}
}

// Start starts the workers.
func (p Process) Start() error { return p.queues.start() }

// Stop stops everything; the intake is over when done closes.
func (p Process) Stop(ctx context.Context, stopIntake context.CancelFunc, done chan struct{}) {
	var in *intake
	if stopIntake != nil {
		in = &intake{stop: stopIntake, done: done}
	}
	p.stop(ctx, in)
}

// Watch asks Temporal for its health until ctx ends.
func (p Process) Watch(ctx context.Context) { p.watchTemporal(ctx) }

// Unauthorized is what the sender calls.
func (p Process) Unauthorized(refused bool) { p.unauthorized(refused) }

// Limiter is the process's budget.
func (p Process) Limiter() *limiter.Limiter { return p.limiter }

// Register makes the real workers on a client and starts none.
func Register(c client.Client, bot int64) {
	newQueues(c, bot, parts{
		turns: activities.NewTurns(c), handling: &activities.Handling{}, sender: &activities.Sender{},
	}, sendSlots, nil)
}

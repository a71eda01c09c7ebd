package worker

import (
	"context"
	"fmt"
	"sync"

	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

// Run runs a bot until ctx ends, and then stops it in order, within 25 s. It
// returns an error when it cannot start or when a worker gave up.
func Run(ctx context.Context, o Options) error {
	asked := ctx
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	attributes, err := persist(ctx, o.Log, func() (bool, error) { return knowsAttributes(ctx, o.Temporal, o.Namespace) })
	if err != nil {
		o.Log.WarnContext(ctx, "search attributes cannot be looked up: updates are stored without them", "error", err)
	}
	o.Numbers.Open(o.Temporal, o.Namespace, o.Token.BotID(), attributes)
	p := newProcess(o, attributes, func(err error) { fail(fmt.Errorf("a worker gave up: %w", err)) })
	if o.Webhook != nil {
		o.Webhook.PassTo(relaying{starter.NewRelay(starter.HolderAddress(o.Temporal, o.Token.BotID())), p})
	}
	if p.main, err = started(ctx, o.Log, p.newMain); err != nil {
		return stopped(asked, fmt.Errorf("start workers: %w", err))
	}
	p.watchTemporal(ctx)
	p.watchDuty(ctx)
	if !o.NoDuty {
		p.group.Go(func() { p.seekDuty(ctx, p.dutyWorker) })
	}
	o.Health.Well(telemetry.PartStart)
	o.Log.InfoContext(ctx, "bot is running", "bot", o.Token.BotID())
	<-ctx.Done()
	o.Health.Down(telemetry.PartStart, "stopping")
	p.stop(context.WithoutCancel(ctx))
	return stopped(asked, context.Cause(ctx))
}

// stopped is what Run returns: a stop that was asked for is no failure.
func stopped(asked context.Context, err error) error {
	if asked.Err() != nil {
		return nil
	}
	return err
}

// process is one process of a bot. It always runs workflows and handlers; while
// it is on duty it has a term as well.
type process struct {
	Options
	attributes bool // whether the namespace knows our search attributes
	fail       func(error)
	turns      *activities.Turns
	answers    *activities.Answers
	probe      func(context.Context) error // one getMe
	newMain    func() worker.Worker
	main       worker.Worker // what newMain made
	mainOnce   sync.Once
	group      sync.WaitGroup // of everything in the background

	mu       sync.Mutex
	term     *term // nil when not on duty
	stopping bool
	refused  chan struct{} // told when Telegram has refused the token; holds one
	barred   bool          // until a getMe succeeds
}

func newProcess(o Options, attributes bool, fail func(error)) *process {
	p := &process{
		Options: o, attributes: attributes, fail: fail,
		turns: activities.NewTurns(o.Temporal), answers: activities.NewAnswers(), refused: make(chan struct{}, 1),
	}
	p.probe = p.askMe
	handling := &activities.Handling{
		Handler: o.Handler, Reader: activities.NewReader(o.Telegram, o.Telegram), Redact: o.Token.Redact, Log: o.Log,
		Handled: o.Metrics.Handled,
	}
	p.newMain = func() worker.Worker { return newMain(o.Temporal, o.Token.BotID(), p.turns, handling, fail) }
	return p
}

// stop lets go in the order that loses nothing; see the package comment. A term
// in force stops the workflows itself, in their place of its order.
func (p *process) stop(ctx context.Context) {
	p.mu.Lock()
	p.stopping = true
	t := p.term
	p.mu.Unlock()
	if t != nil {
		t.finish()
		<-t.ended
	}
	p.stopMain()
	p.group.Wait()
	p.Log.InfoContext(ctx, "stopped")
}

func (p *process) stopMain() { p.mainOnce.Do(p.main.Stop) }

// isStopping reports whether the process has been told to stop.
func (p *process) isStopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

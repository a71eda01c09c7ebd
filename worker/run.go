package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
	"github.com/durabot/durabot/worker/limiter"
)

// airTime is what requests in the air get when the process is told to stop.
// What is not answered by then has an unknown outcome.
const airTime = 15 * time.Second

// Run runs a bot until ctx ends, and then stops it in order, within 25 s. It
// returns an error when it cannot start or when a worker gave up.
func Run(ctx context.Context, o Options) error {
	asked := ctx
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	attributes, err := knowsAttributes(ctx, o.Temporal, o.Namespace)
	if err != nil {
		o.Log.WarnContext(ctx, "search attributes cannot be looked up: updates are stored without them", "error", err)
	}
	p := newProcess(o, fail) //nolint:contextcheck // its requests outlive ctx by airTime
	defer p.cut()
	if err := p.queues.start(); err != nil {
		return err
	}
	p.watchTemporal(ctx)
	intake, err := p.startIntake(ctx, attributes)
	if err != nil {
		fail(fmt.Errorf("start intake: %w", err))
	} else {
		o.Health.Well(telemetry.PartStart)
		o.Log.InfoContext(ctx, "bot is running", "bot", o.Token.BotID())
	}
	<-ctx.Done()
	o.Health.Down(telemetry.PartStart, "stopping")
	p.stop(context.WithoutCancel(ctx), intake)
	if asked.Err() != nil {
		return nil // a stop that was asked for is no failure
	}
	return context.Cause(ctx)
}

// process is one running bot.
type process struct {
	Options
	turns   *activities.Turns
	limiter *limiter.Limiter
	queues  *queues
	cut     context.CancelFunc // ends the requests in the air
	group   sync.WaitGroup     // of everything in the background
}

func newProcess(o Options, fail context.CancelCauseFunc) *process {
	air, cut := context.WithCancel(context.Background()) // outlives the process's own context by airTime
	p := &process{Options: o, turns: activities.NewTurns(o.Temporal), limiter: limiter.New(o.Limits), cut: cut}
	sender := activities.NewSender(air, o.Telegram, budget{p.limiter}, o.Temporal)
	sender.Unauthorized = p.unauthorized
	handling := &activities.Handling{
		Handler: o.Handler, Reader: activities.NewReader(o.Telegram, o.Telegram), Redact: o.Token.Redact, Log: o.Log,
	}
	slots := sendSlots
	if o.Limits.GlobalPerSecond == 0 {
		slots = unlimitedSlots
	}
	parts := parts{turns: p.turns, handling: handling, sender: sender}
	p.queues = newQueues(o.Temporal, o.Token.BotID(), parts, slots, func(err error) {
		fail(fmt.Errorf("a worker gave up: %w", err))
	})
	return p
}

// unauthorized keeps health in step with what Telegram says of the token.
func (p *process) unauthorized(refused bool) {
	if refused {
		p.Health.Down(telemetry.PartToken, "Telegram refuses the bot token: start with a valid one")
		return
	}
	p.Health.Well(telemetry.PartToken)
}

// intake is the poller in the background, nil when there is none.
type intake struct {
	stop context.CancelFunc
	done chan struct{}
}

func (p *process) startIntake(ctx context.Context, attributes bool) (*intake, error) {
	if !p.Poll {
		return nil, nil //nolint:nilnil // no intake was asked for
	}
	tails := starter.NewTails(p.turns.Finished)
	inbox := starter.NewInbox(p.Temporal, starter.Settings{
		BotID: p.Token.BotID(), Handling: p.Handling, MaxAge: p.MaxUpdateAge, Attributes: attributes, NewIDs: p.NewIDs,
	}, tails, p.Metrics, p.Log)
	if err := inbox.Rebuild(ctx); err != nil {
		return nil, err
	}
	poller := starter.NewPoller(p.Telegram, inbox, p.AllowedUpdates, watch{p.Health, p.Metrics}, p.Log)
	ctx, cancel := context.WithCancel(ctx)
	in := &intake{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(in.done)
		poller.Run(ctx)
	}()
	return in, nil
}

// stop lets go in the order that loses nothing; see the package comment.
func (p *process) stop(ctx context.Context, in *intake) {
	cutter := time.AfterFunc(airTime, p.cut)
	defer cutter.Stop()
	if in != nil {
		in.stop()
	}
	p.limiter.Stop()
	if in != nil {
		<-in.done
	}
	p.Log.InfoContext(ctx, "intake and grants stopped")
	p.queues.main.Stop()
	p.queues.send.Stop()
	p.queues.answer.Stop()
	p.group.Wait()
	p.Log.InfoContext(ctx, "stopped")
}

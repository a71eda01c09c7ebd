package worker

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

const (
	// tokenRetry is between two looks at a token that Telegram refused: it answers
	// from memory for up to half an hour (tdlib/telegram-bot-api, finish_closing).
	tokenRetry = time.Minute
	// probeTimeout bounds one such look.
	probeTimeout = 10 * time.Second
)

// dutyWorker makes the worker that asks for the duty.
func (p *process) dutyWorker() worker.Worker {
	duty := &activities.Duty{Recorder: p.Temporal, Begin: p.begin, Log: p.Log}
	return newDuty(p.Temporal, p.Token.BotID(), duty, p.fail)
}

// seekDuty asks for the duty until ctx ends. After Telegram refused the token it
// asks again only when a getMe has succeeded: until then somebody with a better
// token may have it.
func (p *process) seekDuty(ctx context.Context, seeker func() worker.Worker) {
	for ctx.Err() == nil {
		w, err := started(ctx, p.Log, seeker)
		if err != nil {
			p.fail(fmt.Errorf("ask for the duty: %w", err))
			return
		}
		select {
		case <-ctx.Done():
		case <-p.refused:
		}
		w.Stop() // returns when a term has ended
		p.awaitToken(ctx)
	}
}

// awaitToken returns when the process is not barred, or no more.
func (p *process) awaitToken(ctx context.Context) {
	for ctx.Err() == nil && p.isBarred() {
		if err := p.probe(ctx); err == nil {
			p.bar(false)
			select {
			case <-p.refused: // it may have been told twice
			default:
			}
			p.Health.Well(telemetry.PartToken)
			p.Log.InfoContext(ctx, "Telegram takes the token again")
			return
		}
		wait(ctx, tokenRetry)
	}
}

// askMe asks Telegram who the bot is.
func (p *process) askMe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := p.Telegram.Me(ctx)
	return err
}

// begin starts a term. It is called when the duty is this process's and the
// first heartbeat has been acknowledged.
func (p *process) begin(ctx context.Context, in activities.TermInput) (activities.Term, error) {
	holder, err := starter.DutyHolder(ctx, p.Temporal, p.Token.BotID())
	if err != nil {
		return nil, fmt.Errorf("look whether sending is paused: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping || p.barred {
		return nil, activities.ErrStopping
	}
	t := newTerm(ctx, p, in)
	t.pause(holder.Pause != nil)
	if err := t.start(in.From); err != nil { //nolint:contextcheck // the term outlives this call
		return nil, err
	}
	p.term = t
	p.Metrics.OnDuty(true)
	p.Health.Note(telemetry.PartDuty, onDutyText)
	p.Log.InfoContext(ctx, "on duty", "after_a_kill", in.Killed)
	return t, nil
}

// left is called when a term is over.
func (p *process) left(t *term) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.term == t {
		p.term = nil
	}
	p.Metrics.OnDuty(false)
	p.Health.Note(telemetry.PartDuty, "stand-by: this process has just left the duty")
	for _, part := range []telemetry.Part{telemetry.PartIntake, telemetry.PartTelegram, telemetry.PartPenalty, telemetry.PartQueue} {
		p.Health.Well(part)
	}
	p.Health.AliveUntil(time.Time{})
}

func (p *process) bar(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.barred = yes
}

func (p *process) isBarred() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.barred
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

const (
	checkEvery   = 5 * time.Second
	checkTimeout = 4 * time.Second
	// dutyEvery is how often a process looks who is on duty; a pause takes effect
	// within it.
	dutyEvery = 3 * time.Second
	// dutyPatience is how long nobody may be on duty before the bot counts as deaf:
	// a killed holder is replaced within 20 s.
	dutyPatience = time.Minute
)

const onDutyText = "this process is on duty"

// every calls fn each interval in the background until ctx ends.
func every(ctx context.Context, group *sync.WaitGroup, interval time.Duration, fn func(context.Context)) {
	group.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				fn(ctx)
			}
		}
	})
}

// watchTemporal asks the server for the namespace until ctx ends. A server that is
// well is of no use without it, and takes no question about it without valid
// credentials.
func (p *process) watchTemporal(ctx context.Context) {
	every(ctx, &p.group, checkEvery, func(ctx context.Context) {
		check, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		_, err := p.Temporal.WorkflowService().DescribeNamespace(check, &workflowservice.DescribeNamespaceRequest{Namespace: p.Namespace})
		refusal := Refusal(err, p.TemporalAddress, p.Namespace)
		switch {
		case err == nil:
			p.Health.Well(telemetry.PartTemporal)
		case ctx.Err() != nil:
		case refusal != nil:
			p.Health.Down(telemetry.PartTemporal, refusal.Error())
		default:
			p.Health.Down(telemetry.PartTemporal, "Temporal does not answer: "+err.Error())
		}
	})
}

// watchDuty makes sure that there is a duty, and looks who holds it and whether
// sending is paused, at once and until ctx ends.
func (p *process) watchDuty(ctx context.Context) {
	p.lookAtDuty(ctx)
	every(ctx, &p.group, dutyEvery, p.lookAtDuty)
}

func (p *process) lookAtDuty(ctx context.Context) {
	look, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	holder, err := starter.DutyHolder(look, p.Temporal, p.Token.BotID())
	if err == nil && !holder.Running {
		err = starter.EnsureDuty(look, p.Temporal, p.Token.BotID())
	}
	if err != nil {
		if ctx.Err() == nil && !told(err) {
			p.Log.WarnContext(ctx, "the duty cannot be looked up", "error", err)
		}
		return
	}
	p.reportPause(holder.Pause)
	if t := p.onDuty(); t != nil {
		t.pause(holder.Pause != nil)
		p.Health.Note(telemetry.PartDuty, onDutyText)
		return
	}
	p.standBy(holder)
}

// reportPause tells health that an operator has paused sending.
func (p *process) reportPause(by *contract.Pause) {
	if by == nil {
		p.Health.Well(telemetry.PartBudget)
		return
	}
	p.Health.Degrade(telemetry.PartBudget, fmt.Sprintf("sending is paused by %s: %s", by.By, by.Reason))
}

// standBy tells health who else is on duty.
func (p *process) standBy(holder starter.Holder) {
	waited := time.Duration(0)
	if !holder.WaitingSince.IsZero() {
		waited = time.Since(holder.WaitingSince)
	}
	switch {
	case holder.Identity != "":
		p.Health.Note(telemetry.PartDuty, "stand-by: "+holder.Identity+" is on duty")
	case waited > dutyPatience:
		p.Health.Down(telemetry.PartDuty, fmt.Sprintf("nobody is on duty for %v: start a process that may be", waited.Round(time.Second)))
	default:
		p.Health.Note(telemetry.PartDuty, "stand-by: nobody is on duty yet")
	}
}

func (p *process) onDuty() *term {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.term
}

// told reports an error of which watchTemporal tells.
func told(err error) bool { return away(err) || denied(err) || deleted(err) }

// away reports the error of a server that does not answer.
func away(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded)
}

// knowsAttributes reports whether the namespace has all of our search
// attributes. One that lacks some would refuse a start that names them.
func knowsAttributes(ctx context.Context, c client.Client, namespace string) (bool, error) {
	res, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{
		Namespace: namespace,
	})
	if err != nil {
		return false, err
	}
	for _, name := range contract.SearchAttributes() {
		if _, ok := res.GetCustomAttributes()[name]; !ok {
			return false, nil
		}
	}
	return true, nil
}

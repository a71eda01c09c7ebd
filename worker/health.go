package worker

import (
	"context"
	"time"

	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

const (
	checkEvery   = 5 * time.Second
	checkTimeout = 4 * time.Second
)

// watch tells health and metrics how polling goes.
type watch struct {
	health  *telemetry.Health
	metrics *telemetry.Metrics
}

func (w watch) Polled() { w.metrics.Polled() }

func (w watch) Alive(until time.Time) { w.health.AliveUntil(until) }

func (w watch) Trouble(kind starter.Trouble, text string) {
	switch kind {
	case starter.Fine:
		w.health.Well(telemetry.PartIntake)
	case starter.TelegramAway, starter.Limited:
		w.health.Degrade(telemetry.PartIntake, text)
	default:
		w.health.Down(telemetry.PartIntake, string(kind)+": "+text)
	}
}

// watchTemporal asks the server for its health until ctx ends.
func (p *process) watchTemporal(ctx context.Context) {
	p.group.Go(func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			check, cancel := context.WithTimeout(ctx, checkTimeout)
			_, err := p.Temporal.CheckHealth(check, &client.CheckHealthRequest{})
			cancel()
			switch {
			case err == nil:
				p.Health.Well(telemetry.PartTemporal)
			case ctx.Err() == nil:
				p.Health.Down(telemetry.PartTemporal, "Temporal does not answer: "+err.Error())
			}
		}
	})
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

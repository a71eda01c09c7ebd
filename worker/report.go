package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telemetry"
)

const (
	// numbersEvery is between two lines of numbers in the log.
	numbersEvery = time.Minute
	// lateEvery is between two looks at the oldest call that waits.
	lateEvery = 15 * time.Second
	// numbersAge is how old the numbers may be for both.
	numbersAge = 5 * time.Second
)

// report tells how the bot is doing for as long as the term lasts: the log, health
// and a monitor.
func (t *term) report() {
	every(t.ctx, &t.group, numbersEvery, t.writeNumbers)
	if t.LateAfter > 0 {
		every(t.ctx, &t.group, lateEvery, t.judgeQueue)
	}
	if t.HeartbeatURL != "" {
		beat := telemetry.Heartbeat{URL: t.HeartbeatURL, Health: t.Health, Metrics: t.Metrics, Log: t.Log}
		t.group.Go(func() { beat.Run(t.ctx) })
	}
}

// writeNumbers leaves them out when Temporal is away, which health tells.
func (t *term) writeNumbers(ctx context.Context) {
	if n, err := t.Numbers.Numbers(ctx, numbersAge); err == nil {
		t.Log.LogAttrs(ctx, slog.LevelInfo, "numbers", n.Attrs()...)
	}
}

// judgeQueue tells health of a queue that is late. While somebody has paused
// sending there is nothing to add.
func (t *term) judgeQueue(ctx context.Context) {
	n, err := t.Numbers.Numbers(ctx, numbersAge)
	if err != nil {
		return
	}
	age := time.Duration(n.OldestPendingAge) * time.Second
	if n.Paused != nil || age <= t.LateAfter {
		t.Health.Well(telemetry.PartQueue)
		return
	}
	t.Health.Degrade(telemetry.PartQueue, fmt.Sprintf("the oldest of %d calls has waited for %v: look at durabot stats", n.QueueDepth, age))
}

// tellPenalty tells health that the whole bot must be silent.
func (t *term) tellPenalty(all []contract.Penalty) {
	for _, p := range all {
		if p.ChatID == "" && p.Method == "" && time.Now().Before(p.Until) {
			t.Health.DegradeUntil(telemetry.PartPenalty, "Telegram limits the whole bot until "+p.Until.UTC().Format(time.RFC3339), p.Until)
		}
	}
}

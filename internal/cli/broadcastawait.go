package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// waitLook is how often a broadcast is looked at that is waited for.
const waitLook = time.Second

// await follows the broadcast to its end, if that is wanted. An interrupt ends the
// wait and not the broadcast.
func (l *launch) await(ctx context.Context) error {
	if !l.flags.wait {
		return nil
	}
	bar := l.progress("sending", l.plan.Recipients)
	defer func() { _ = bar.Exit() }() // a picture for people
	var before broadcast.Status
	for silent := false; ; pause(ctx, waitLook) {
		status, err := broadcast.Look(ctx, l.frontend, l.bot, l.plan.Name)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("no longer waiting: broadcast %s is accepted and goes on", l.plan.Name)
		case errors.Is(err, broadcast.ErrNone):
			return l.unread(l.plan.Name, err)
		case err != nil:
			if !silent {
				l.warn("no answer from Temporal at %s: still waiting for broadcast %s", l.options.HostPort, l.plan.Name)
			}
			silent = true
			continue
		}
		silent, l.plan.Status = false, &status
		_ = bar.Set(status.Total - status.Pending) // as above
		if isOver(status) {
			return wasCancelled(status)
		}
		l.tellPause(before, status)
		before = status
	}
}

// tellPause says that the broadcast that is waited for stands still.
func (l *launch) tellPause(before, now broadcast.Status) {
	if now.State == contract.BroadcastPaused && before.State != now.State {
		l.warn("broadcast %s is %s: take that back with `durabot broadcast resume %s`", now.Name, stateText(now), now.Name)
	}
}

// wasCancelled is the error of a broadcast that was not sent to all.
func wasCancelled(b broadcast.Status) error {
	if b.State != contract.BroadcastCancelled {
		return nil
	}
	return fmt.Errorf("broadcast %s was cancelled", b.Name)
}

package workflows

import (
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// act does what somebody wants, and keeps it among the actions with the time at
// which it took effect. What is so already, and what makes no sense now, changes
// nothing and is no action.
func (b *broadcast) act(now time.Time, o contract.BroadcastOrder) {
	phase := b.after(o.What)
	if phase == "" {
		return
	}
	b.enter(phase, now)
	o.At = now
	b.state.Actions = append(b.state.Actions, o)
	if more := len(b.state.Actions) - actionsKept; more > 0 {
		b.state.Actions = b.state.Actions[more:]
	}
}

// after is the phase to which an order leads, "" when it leads nowhere. One that
// is resumed before its time is scheduled again in a moment.
func (b *broadcast) after(what string) contract.BroadcastPhase {
	paused := b.state.Phase == contract.BroadcastPaused
	switch {
	case what == contract.BroadcastPause && b.moving():
		return contract.BroadcastPaused
	case what == contract.BroadcastResume && paused:
		return contract.BroadcastRunning
	case what == contract.BroadcastCancel && (paused || b.moving()):
		return contract.BroadcastCancelled
	default:
		return ""
	}
}

// enter changes the phase. A pause is counted when it is over, if the first part
// had been let go. It began with the last action, for none comes after it.
func (b *broadcast) enter(phase contract.BroadcastPhase, now time.Time) {
	if n := len(b.state.Actions); b.state.Phase == contract.BroadcastPaused && !b.state.BeganAt.IsZero() && n > 0 {
		b.state.PausedFor += now.Sub(b.state.Actions[n-1].At)
	}
	b.state.Phase = phase
}

// free is the phase of a broadcast that nobody has paused or cancelled.
func (b *broadcast) free(now time.Time) contract.BroadcastPhase {
	if now.Before(b.in.At) {
		return contract.BroadcastScheduled
	}
	return contract.BroadcastRunning
}

// moving reports whether nobody has paused or cancelled it.
func (b *broadcast) moving() bool {
	return b.state.Phase == contract.BroadcastScheduled || b.state.Phase == contract.BroadcastRunning
}

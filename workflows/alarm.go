package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// historyMost is how many events a run may have before it continues as new. What
// has to end first adds a few hundred, so that no run has above 4,096.
const historyMost = 2000

// long reports whether the run should be continued by another.
func long(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > historyMost
}

// alarm is the one timer of a workflow that waits for other things as well. It
// runs on until another time is asked for: every timer is two events.
type alarm struct {
	at    time.Time
	timer workflow.Future
	stop  workflow.CancelFunc
}

// set asks for a time, zero for none. One that is past rings at once.
func (a *alarm) set(ctx workflow.Context, at time.Time, summary string) {
	if a.timer != nil {
		if at.Equal(a.at) && !a.timer.IsReady() {
			return
		}
		a.stop()
	}
	a.at, a.timer = at, nil
	if at.IsZero() {
		return
	}
	timed, stop := workflow.WithCancel(ctx)
	wait := max(at.Sub(workflow.Now(ctx)), time.Millisecond)
	a.stop = stop
	a.timer = workflow.NewTimerWithOptions(timed, wait, workflow.TimerOptions{Summary: summary})
}

// rings reports whether the time has come.
func (a *alarm) rings() bool { return a.timer != nil && a.timer.IsReady() }

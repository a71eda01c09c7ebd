package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

const (
	// recheckFirst and recheckMost bound the wait between two questions to a
	// predecessor that promised to wake us: its promise dies when it is terminated.
	recheckFirst = 30 * time.Second
	recheckMost  = time.Hour
)

// awaitTurn returns when the chat's previous update is done. Cancelled while it
// waits, an update says so only then: those behind it ask it alone whether the
// chat is free.
func (u *update) awaitTurn(ctx workflow.Context) error {
	if u.in.After == "" {
		return nil
	}
	err := u.waitForTurn(ctx)
	if temporal.IsCanceledError(err) && has(ctx, cancelledKeepsPlace) {
		rest, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		if err := u.waitForTurn(rest); err != nil {
			return err
		}
	}
	return err
}

func (u *update) waitForTurn(ctx workflow.Context) error {
	for wait := recheckFirst; ; wait = min(2*wait, recheckMost) {
		ours, err := u.askForTurn(ctx)
		if ours || err != nil {
			return err
		}
		u.waited = true
		ok, err := u.woken(ctx, wait)
		if ok || err != nil {
			return err
		}
	}
}

// askForTurn asks once. A predecessor that cannot be reached is asked again
// after the wait, so only cancellation is an error.
func (u *update) askForTurn(ctx workflow.Context) (bool, error) {
	var turns *activities.Turns
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	var ours bool
	err := workflow.ExecuteLocalActivity(ctx, turns.AwaitTurn, contract.TurnInput{Self: u.self, After: u.in.After}).Get(ctx, &ours)
	if temporal.IsCanceledError(err) {
		return false, err
	}
	return ours, nil
}

// woken reports whether the predecessor signalled within the wait.
func (u *update) woken(ctx workflow.Context, wait time.Duration) (bool, error) {
	var by string
	if u.turn.ReceiveAsync(&by) {
		return true, nil
	}
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	got := false
	var err error
	workflow.NewSelector(ctx).
		AddReceive(u.turn, func(c workflow.ReceiveChannel, _ bool) { got = c.Receive(ctx, &by) }).
		AddFuture(workflow.NewTimer(ctx, wait), func(f workflow.Future) { err = f.Get(ctx, nil) }).
		Select(ctx)
	return got, err
}

// passTurn marks this update done and wakes those who asked, also when the
// workflow was cancelled. Called again it only wakes whoever asked since.
func (u *update) passTurn(ctx workflow.Context) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	var turns *activities.Turns
	for {
		askers := received[string](u.wakeMe)
		if u.passed && len(askers) == 0 {
			return
		}
		u.passed = true
		in := contract.PassInput{Self: u.self, Askers: askers}
		if err := workflow.ExecuteLocalActivity(ctx, turns.PassTurn, in).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("turn not passed on: those who wait ask again by themselves", "error", err)
		}
	}
}

package workflows

import (
	"errors"
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

// errTooLate ends a wait that was bounded.
var errTooLate = errors.New("the time to wait is over")

// turn is a workflow's place in a row: the one before it, and those who wait for
// it.
type turn struct {
	self, after string
	wakeMe      workflow.ReceiveChannel
	yours       workflow.ReceiveChannel
	// again is set by one that may be waited for once more: it wakes who asked, and
	// is remembered by nobody as done.
	again  bool
	waited bool // across workflow tasks
	passed bool
}

func newTurn(ctx workflow.Context, after string) *turn {
	return &turn{
		self: workflow.GetInfo(ctx).WorkflowExecution.ID, after: after,
		wakeMe: workflow.GetSignalChannel(ctx, contract.WakeMeSignal),
		yours:  workflow.GetSignalChannel(ctx, contract.YourTurnSignal),
	}
}

// await returns when the one before is done, with errTooLate when it is not by
// the given time, zero for no such time, or with the error of a cancel.
func (t *turn) await(ctx workflow.Context, until time.Time) error {
	if t.after == "" {
		return nil
	}
	for wait := recheckFirst; ; wait = min(2*wait, recheckMost) {
		ours, err := t.ask(ctx)
		if ours || err != nil {
			return err
		}
		t.waited = true
		if !until.IsZero() {
			wait = min(wait, until.Sub(workflow.Now(ctx)))
		}
		if wait <= 0 {
			return errTooLate
		}
		ok, err := t.woken(ctx, wait)
		if ok || err != nil {
			return err
		}
	}
}

// ask asks once. A predecessor that cannot be reached is asked again after the
// wait, so only cancellation is an error.
func (t *turn) ask(ctx workflow.Context) (bool, error) {
	var turns *activities.Turns
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	var ours bool
	err := workflow.ExecuteLocalActivity(ctx, turns.AwaitTurn, contract.TurnInput{Self: t.self, After: t.after}).Get(ctx, &ours)
	if temporal.IsCanceledError(err) {
		return false, err
	}
	return ours, nil
}

// woken reports whether the predecessor signalled within the wait.
func (t *turn) woken(ctx workflow.Context, wait time.Duration) (bool, error) {
	var by string
	if t.yours.ReceiveAsync(&by) {
		return true, nil
	}
	ctx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	got := false
	var err error
	workflow.NewSelector(ctx).
		AddReceive(t.yours, func(c workflow.ReceiveChannel, _ bool) { got = c.Receive(ctx, &by) }).
		AddFuture(workflow.NewTimer(ctx, wait), func(f workflow.Future) { err = f.Get(ctx, nil) }).
		Select(ctx)
	return got, err
}

// asked reports whether somebody waits to be woken.
func (t *turn) asked() bool { return t.wakeMe.Len() > 0 }

// pass marks this workflow done and wakes those who asked, also when it was
// cancelled. Called again it only wakes whoever asked since.
func (t *turn) pass(ctx workflow.Context) {
	ctx, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	var turns *activities.Turns
	for {
		askers := received[string](t.wakeMe)
		if t.passed && len(askers) == 0 {
			return
		}
		t.passed = true
		in := contract.PassInput{Self: t.self, Askers: askers, Again: t.again}
		if err := workflow.ExecuteLocalActivity(ctx, turns.PassTurn, in).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Warn("turn not passed on: those who wait ask again by themselves", "error", err)
		}
	}
}

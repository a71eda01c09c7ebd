package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// makeOrTakeBack makes a call. Cancelled, it looks what the attempts have come to
// before it takes the call back: what may have arrived must not end as if it had
// never left.
func (w *whole) makeOrTakeBack(ctx workflow.Context, in contract.SendInput) (contract.CallResult, *contract.MessageInput) {
	making, takeBack := workflow.NewDisconnectedContext(ctx)
	defer takeBack()
	f := startSend(making, w.bot, in, true)
	_ = workflow.Await(ctx, f.IsReady) // only a cancel is an error
	var known *contract.Ledger
	if !f.IsReady() {
		if has(making, takesBackKnowingly) {
			known = attemptsSoFar(making)
		}
		takeBack()
	}
	var res contract.CallResult
	err := f.Get(making, &res)
	if err == nil {
		return res, nil
	}
	res, gone := ended(in.Call, err)
	if known != nil && takenBack(err) && !told(err) {
		doubt(in.Call, *known, err, &res)
	}
	return res, gone
}

// attemptsSoFar is what is known of the call that is being made. Where that cannot
// be found out it may have arrived.
func attemptsSoFar(ctx workflow.Context) *contract.Ledger {
	var turns *activities.Turns
	var l contract.Ledger
	ctx = workflow.WithLocalActivityOptions(ctx, turnOptions)
	if workflow.ExecuteLocalActivity(ctx, turns.Attempts).Get(ctx, &l) != nil {
		l.PossibleDuplicate, l.InFlight = true, true
	}
	return &l
}

// told reports whether the attempt that was told of the cancel has said what it
// knows.
func told(err error) bool {
	cancelled, ok := errors.AsType[*temporal.CanceledError](err)
	var res contract.CallResult
	return ok && cancelled.HasDetails() && cancelled.Details(&res) == nil
}

// doubt judges a call that was taken back while nobody could say what had become
// of it, by its last ledger, or by the one before the cancel.
func doubt(call contract.Call, known contract.Ledger, err error, res *contract.CallResult) {
	vanished := false
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		vanished = running(err)
		if l, newer := lastLedger(timeout); newer {
			l.PossibleDuplicate = l.PossibleDuplicate || known.PossibleDuplicate
			known = l
		}
	} else if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		var last contract.CallResult
		if app.Details(&last) == nil { // it failed as it was told, and knows what there is to know
			res.PossibleDuplicate = last.PossibleDuplicate
			return
		}
	}
	if unclear(call, known, vanished, res) {
		res.Error = "taken back when it might have left already"
	}
}

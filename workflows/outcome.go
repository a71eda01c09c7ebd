package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// sent waits for a call and says how it ended. The message is not nil when the
// call must leave its update's turn, and is what goes on.
func sent(ctx workflow.Context, call contract.Call, f workflow.Future) (contract.CallResult, *contract.MessageInput) {
	var res contract.CallResult
	if err := f.Get(ctx, &res); err != nil {
		return ended(call, err)
	}
	return res, nil
}

// ended judges the error with which a send ended.
func ended(call contract.Call, err error) (contract.CallResult, *contract.MessageInput) {
	res := contract.CallResult{Method: call.Method, ChatID: call.Address()}
	var app *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case takenBack(err):
		// What the attempt that was told of it knows, if there was one.
		if cancelled, ok := errors.AsType[*temporal.CanceledError](err); ok {
			_ = cancelled.Details(&res) // without details res is as it was
		}
		res.Outcome = contract.Cancelled
	case errors.As(err, &timeout): // first: its cause may be the failure of an earlier attempt
		timedOut(call, timeout, running(err), &res)
	case errors.As(err, &app):
		return failed(call, app, res)
	default:
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
	}
	return res, nil
}

// takenBack reports whether a call ended because it was cancelled. An attempt that
// fails at the same moment is not tried again for that reason.
func takenBack(err error) bool {
	ended, ok := errors.AsType[*temporal.ActivityError](err)
	return temporal.IsCanceledError(err) || ok && ended.RetryState() == enumspb.RETRY_STATE_CANCEL_REQUESTED
}

// reasons are the failures that a person can act on.
var reasons = map[string]contract.Reason{
	contract.FailureRejected:  contract.ReasonRejected,
	contract.FailureUncertain: contract.ReasonUncertain,
	contract.FailureGaveUp:    contract.ReasonGaveUp,
	contract.FailureMoved:     contract.ReasonMovedTwice,
}

func failed(call contract.Call, app *temporal.ApplicationError, res contract.CallResult) (contract.CallResult, *contract.MessageInput) {
	var ledger contract.Ledger
	var next time.Time
	if app.Type() == contract.FailureOvertaken {
		var deadline time.Time
		if err := app.Details(&res, &ledger, &next, &deadline); err == nil {
			return res, overtaken(call, ledger, next, deadline)
		}
	}
	if err := app.Details(&res); err != nil {
		res.Error = app.Message()
	}
	switch app.Type() {
	case contract.FailureUnreachable:
		res.Outcome = contract.Unreachable
	case contract.FailureSuperseded:
		res.Outcome = contract.Superseded
	case contract.FailureDropped:
		res.Outcome = contract.Dropped
	case contract.FailureExpired, contract.FailurePaced, contract.FailureRateLimited,
		contract.FailureUnavailable, contract.FailureUnauthorized:
		// The second group are retryable: they are final when the next attempt
		// would have come after the call's deadline.
		res.Outcome = contract.Expired
	default:
		res.Outcome, res.Reason = contract.Dead, reasons[app.Type()]
		if res.Reason == "" {
			res.Reason, res.Error = contract.ReasonGaveUp, app.Message()
		}
	}
	return res, nil
}

// timedOut judges a call whose time is over.
func timedOut(call contract.Call, timeout *temporal.TimeoutError, running bool, res *contract.CallResult) {
	ledger, known := lastLedger(timeout)
	if known {
		res.PossibleDuplicate, res.Degraded, res.Error = ledger.PossibleDuplicate, ledger.Degraded, ledger.Error
	}
	if !unclear(call, ledger, running, res) {
		res.Outcome = contract.Expired
	}
}

// lastLedger is the last that a call which timed out has left.
func lastLedger(timeout *temporal.TimeoutError) (contract.Ledger, bool) {
	var l contract.Ledger
	if !timeout.HasLastHeartbeatDetails() || timeout.LastHeartbeatDetails(&l) != nil {
		return contract.Ledger{}, false
	}
	return l, true
}

// unclear judges a call of which no attempt says how it ended, by its ledger and
// by whether an attempt was under way, which may have sent it: an at-most-once
// call is marked before it leaves, any other may have left. It reports whether the
// call is dead for that.
func unclear(call contract.Call, l contract.Ledger, running bool, res *contract.CallResult) bool {
	switch {
	case call.Delivery != contract.AtMostOnce:
		res.PossibleDuplicate = l.PossibleDuplicate || running
	case l.InFlight:
		res.Outcome, res.Reason = contract.Dead, contract.ReasonUncertain
		return true
	}
	return false
}

// running reports whether an attempt was under way when the activity ended. The
// type of the timeout does not tell: an attempt that falls silent with no time
// left for another is reported as ScheduleToClose, as is the wait for a worker
// (temporalio/temporal, timer_queue_active_task_executor.go).
func running(err error) bool {
	ended, ok := errors.AsType[*temporal.ActivityError](err)
	return ok && ended.StartedEventID() > 0
}

// failureTypes are the types under which a dead update or message fails.
var failureTypes = map[contract.Reason]string{
	contract.ReasonRejected:      contract.FailureRejected,
	contract.ReasonUncertain:     contract.FailureUncertain,
	contract.ReasonGaveUp:        contract.FailureGaveUp,
	contract.ReasonMovedTwice:    contract.FailureMoved,
	contract.ReasonHandlerFailed: contract.FailureHandler,
	contract.ReasonUndecodable:   contract.FailureUndecodable,
	contract.ReasonTooLarge:      contract.FailureTooLarge,
}

// dead is the error that makes a workflow red. Details hold its result, which a
// failed workflow has no other place for.
func dead(reason contract.Reason, why string, result any) error {
	return temporal.NewApplicationErrorWithOptions(why, failureTypes[reason], temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Details:      []any{result},
	})
}

// cause is the innermost message of an error, without the SDK's own framing.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
	}
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return app.Message()
	}
	return err.Error()
}

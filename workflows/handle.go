package workflows

import (
	"errors"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// undisturbed is the length of a history in its first workflow task: started,
// scheduled, started. After a lost task it is longer, the same in every replay.
const undisturbed = 3

// errNoAttemptLeft is the end of a handler that was granted one attempt only.
var errNoAttemptLeft = errors.New("the handler failed, or its process died, at the only attempt")

// handle returns the calls that the handler decided on. Its result is in the
// history before anything is sent.
//
// A quick handler gets one attempt as a local activity, which saves a round trip
// to the server. That is done only in a first workflow task that was never
// lost, because a local activity that takes its process with it leaves no
// trace: such an attempt is counted, and the others are ordinary activities,
// whose attempts the server counts.
func (u *update) handle(ctx workflow.Context) ([]contract.Call, error) {
	var h *activities.Handling
	var calls []contract.Call
	attempts := u.in.Handling.Attempts
	local := u.quick() && !u.waited
	if local && first(ctx) {
		err := workflow.ExecuteLocalActivity(localHandler(ctx, u.in.Handling), h.Handle, handling(u.in), u.raw).Get(ctx, &calls)
		if err == nil || temporal.IsCanceledError(err) {
			return calls, err
		}
	}
	if local || u.disturbed && u.quick() && has(ctx, countsLostTask) {
		attempts-- // made or lost
	}
	if attempts < 1 {
		return nil, errNoAttemptLeft
	}
	return handled(ctx, u.in, u.raw, attempts)
}

// handled runs the handler as an ordinary activity.
func handled(ctx workflow.Context, in contract.UpdateInput, raw converter.RawValue, attempts int) ([]contract.Call, error) {
	var h *activities.Handling
	var calls []contract.Call
	err := workflow.ExecuteActivity(handlerOptions(ctx, in, attempts), h.Handle, handling(in), raw).Get(ctx, &calls)
	return calls, err
}

// handling is what the handler is told of an update.
func handling(in contract.UpdateInput) contract.HandleInput {
	return contract.HandleInput{
		UpdateID: in.UpdateID, Kind: in.Kind, ChatID: in.ChatID, UserID: in.UserID, ReceivedAt: in.ReceivedAt,
	}
}

// quick reports whether the handler is fit for a local activity. One that
// answers a button press is not: commands leave a workflow task only when its
// local activities are done, and the answer must not wait for the handler.
func (u *update) quick() bool {
	return u.in.Handling.Timeout <= localHandlerMost && u.answer == nil
}

// first reports whether this is the first workflow task and was never lost.
func first(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetCurrentHistoryLength() == undisturbed
}

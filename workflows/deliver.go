package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// delivery is the calls of one update on their way.
type delivery struct {
	*update
	res contract.UpdateResult
	// closed are the chats that are known to be closed to the bot, and why.
	closed map[string]string
}

// deliver makes the calls one after the other. A call that dies takes with it
// the rest that is not independent; a chat that is closed to the bot takes the
// rest of its own calls.
func (u *update) deliver(ctx workflow.Context, calls []contract.Call) contract.UpdateResult {
	u.showHandled(ctx, calls)
	d := delivery{update: u, res: contract.UpdateResult{Outcome: contract.Done}, closed: map[string]string{}}
	for n, call := range calls {
		w := d.whole(ctx, n, call)
		d.add(w, d.make(ctx, n, w))
	}
	return d.res
}

// make makes call n, or says why it is not made.
func (d *delivery) make(ctx workflow.Context, n int, w *whole) contract.CallResult {
	call := w.left[0]
	c := contract.CallResult{Method: call.Method, ChatID: call.Address()}
	why, isClosed := d.closed[c.ChatID]
	switch {
	case ctx.Err() != nil:
		c.Outcome = contract.Cancelled
	case d.res.Outcome == contract.Dead && !call.Independent:
		c.Outcome, c.Reason, c.Error = contract.Dead, d.res.Reason, "not sent: an earlier call of this update died"
	case isClosed && c.ChatID != "":
		c.Outcome, c.Error = contract.Unreachable, why
	case call.Separate():
		return separate(ctx, d.child(contract.MessageInput{Key: call.Key, Call: call}))
	default:
		return d.send(ctx, n, w)
	}
	return c
}

// add takes in how a call ended.
func (d *delivery) add(w *whole, c contract.CallResult) {
	if c.Outcome == contract.Unreachable {
		d.closed[c.ChatID] = c.Error
	}
	switch {
	case d.res.Outcome == contract.Dead:
	case c.Outcome == contract.Dead:
		d.res.Outcome, d.res.Reason = contract.Dead, c.Reason
	case c.Outcome == contract.Cancelled:
		d.res.Outcome = contract.Cancelled
	}
	d.res.Calls = append(d.res.Calls, c)
	if c.Outcome == contract.Dead {
		d.remains.add(w, c)
	}
}

// keyed is call n of an update; one with a time of its own and no key gets that
// of its place.
func keyed(update int64, n int, call contract.Call) contract.Call {
	if call.Separate() && call.Key == "" {
		call.Key = contract.CallKey(update, n)
	}
	return call
}

// whole is call n, not made yet.
func (u *update) whole(ctx workflow.Context, n int, call contract.Call) *whole {
	return &whole{
		bot: u.in.BotID, left: []contract.Call{keyed(u.in.UpdateID, n, call)},
		send: contract.SendInput{Deadline: deadline(ctx, call), HoldsTurn: true},
	}
}

// send makes one call in the update's turn. One that keeps failing for a reason
// of its own goes on as a message, so that the chat does not wait for it; the
// parts after it go along.
func (u *update) send(ctx workflow.Context, n int, w *whole) contract.CallResult {
	res, left := w.deliver(ctx)
	if left == nil {
		return res
	}
	left.Key = contract.CallKey(u.in.UpdateID, n)
	id, err := startMessage(ctx, u.child(*left))
	if err != nil {
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
		return res
	}
	res.Outcome, res.Overtaken, res.WorkflowID = contract.Pending, true, id
	return res
}

// child is a message of this update.
func (u *update) child(in contract.MessageInput) contract.MessageInput {
	in.BotID, in.Attributes = u.in.BotID, u.in.Attributes
	return in
}

// startSend starts the activity that makes a call.
func startSend(ctx workflow.Context, bot int64, in contract.SendInput, cancelWaits bool) workflow.Future {
	if in.Deadline.IsZero() {
		in.Deadline = deadline(ctx, in.Call)
	}
	ctx = workflow.WithWaitForCancellation(sendOptions(ctx, bot, in), cancelWaits)
	return workflow.ExecuteActivity(ctx, contract.SendActivity, in)
}

package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// deliver makes the calls one after the other. A call that dies takes with it
// the rest that is not independent; a chat that is closed to the bot takes the
// rest of its own calls.
func (u *update) deliver(ctx workflow.Context, calls []contract.Call) contract.UpdateResult {
	res := contract.UpdateResult{Outcome: contract.Done}
	closedChats := map[string]string{}
	for i, call := range calls {
		c := contract.CallResult{Method: call.Method, ChatID: call.Address()}
		why, isClosed := closedChats[c.ChatID]
		switch {
		case ctx.Err() != nil:
			c.Outcome = contract.Cancelled
		case res.Outcome == contract.Dead && !call.Independent:
			c.Outcome, c.Reason, c.Error = contract.Dead, res.Reason, "not sent: an earlier call of this update died"
		case isClosed && c.ChatID != "":
			c.Outcome, c.Error = contract.Unreachable, why
		case call.Separate():
			c = u.separate(ctx, i, call)
		default:
			c = u.send(ctx, i, call)
		}
		if c.Outcome == contract.Unreachable {
			closedChats[c.ChatID] = c.Error
		}
		switch {
		case res.Outcome == contract.Dead:
		case c.Outcome == contract.Dead:
			res.Outcome, res.Reason = contract.Dead, c.Reason
		case c.Outcome == contract.Cancelled:
			res.Outcome = contract.Cancelled
		}
		res.Calls = append(res.Calls, c)
	}
	return res
}

// send makes one call in the update's turn. One that keeps failing for a reason
// of its own goes on as a message, so that the chat does not wait for it.
func (u *update) send(ctx workflow.Context, n int, call contract.Call) contract.CallResult {
	in := contract.SendInput{Call: call, HoldsTurn: true}
	res, left := sent(ctx, call, startSend(ctx, u.in.BotID, in))
	if left == nil {
		return res
	}
	left.Key = contract.CallKey(u.in.UpdateID, n)
	id, err := u.startMessage(ctx, *left)
	if err != nil {
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
		return res
	}
	res.Outcome, res.Overtaken, res.WorkflowID = contract.Pending, true, id
	return res
}

// separate starts a message workflow for a call with a key or a time of its own.
// The key dedupes: asked for again, the call is not made again.
func (u *update) separate(ctx workflow.Context, n int, call contract.Call) contract.CallResult {
	res := contract.CallResult{Method: call.Method, ChatID: call.Address(), Outcome: contract.Pending}
	key := call.Key
	if key == "" {
		key = contract.CallKey(u.in.UpdateID, n)
	}
	id, err := u.startMessage(ctx, contract.MessageInput{Key: key, Call: call})
	if err != nil {
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
	}
	res.WorkflowID = id
	return res
}

// startSend starts the activity that makes a call.
func startSend(ctx workflow.Context, bot int64, in contract.SendInput) workflow.Future {
	if in.Deadline.IsZero() {
		in.Deadline = workflow.Now(ctx).Add(in.Call.Lifetime())
	}
	return workflow.ExecuteActivity(sendOptions(ctx, bot, in), contract.SendActivity, in)
}

package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
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
		c := contract.CallResult{Method: call.Method, ChatID: address(call)}
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
	left.BotID, left.Key = u.in.BotID, contract.CallKey(u.in.UpdateID, n)
	id, err := startMessage(ctx, *left)
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
	res := contract.CallResult{Method: call.Method, ChatID: address(call), Outcome: contract.Pending}
	key := call.Key
	if key == "" {
		key = contract.CallKey(u.in.UpdateID, n)
	}
	id, err := startMessage(ctx, contract.MessageInput{BotID: u.in.BotID, Key: key, Call: call})
	if err != nil {
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
	}
	res.WorkflowID = id
	return res
}

// startMessage starts a message workflow that outlives this one and waits until
// it is there: a child started in the task that closes its parent never starts
// (measured with server 1.29). One that is there already is the same message.
func startMessage(ctx workflow.Context, in contract.MessageInput) (string, error) {
	id := contract.MessageID(in.BotID, in.Key)
	ctx, _ = workflow.NewDisconnectedContext(ctx) // its cancel would cancel the child
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            id,
		TaskQueue:             contract.TaskQueue(in.BotID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         separateSummary(in.Call),
	})
	child := workflow.ExecuteChildWorkflow(ctx, MessageWorkflow, in)
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return id, nil
	}
	return id, err
}

// startSend starts the activity that makes a call.
func startSend(ctx workflow.Context, bot int64, in contract.SendInput) workflow.Future {
	if in.Deadline.IsZero() {
		in.Deadline = workflow.Now(ctx).Add(in.Call.Lifetime())
	}
	return workflow.ExecuteActivity(sendOptions(ctx, bot, in), contract.SendActivity, in)
}

// address is the chat a call is made for, "" for none. What is flagged here is
// encoding/json, which is free of clock and chance and sorts the keys of maps.
//
//workflowcheck:ignore
func address(call contract.Call) string {
	params, err := call.Object()
	if err != nil {
		return ""
	}
	return contract.Address(params)
}

// message is what goes on when a call leaves its update's turn.
func message(call contract.Call, ledger contract.Ledger, next, deadline time.Time) *contract.MessageInput {
	return &contract.MessageInput{
		Call: call, Deadline: deadline, NotBefore: next, Overtaken: true, Ledger: &ledger,
	}
}

package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// MessageWorkflow is the story of one call with a key or a time of its own, or
// of one that left its update's turn: wait until it may leave, make it. It
// fails when the call died.
func MessageWorkflow(ctx workflow.Context, in contract.MessageInput) (contract.CallResult, error) {
	res := deliverMessage(ctx, in)
	res.Overtaken = in.Overtaken
	showEnd(ctx, in.Attributes, endOf(res))
	if res.Outcome == contract.Dead {
		return res, dead(res.Reason, string(res.Reason)+": "+res.Error, res)
	}
	return res, nil
}

func deliverMessage(ctx workflow.Context, in contract.MessageInput) contract.CallResult {
	leave := in.Call.At
	if in.NotBefore.After(leave) {
		leave = in.NotBefore
	}
	if wait := leave.Sub(workflow.Now(ctx)); wait > 0 {
		err := workflow.NewTimerWithOptions(ctx, wait, workflow.TimerOptions{Summary: "until it may leave"}).Get(ctx, nil)
		if temporal.IsCanceledError(err) {
			return contract.CallResult{Method: in.Call.Method, ChatID: in.Call.Address(), Outcome: contract.Cancelled}
		}
	}
	send := contract.SendInput{Call: in.Call, Deadline: in.Deadline, Ledger: in.Ledger}
	res, _ := sent(ctx, in.Call, startSend(ctx, in.BotID, send))
	return res
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// UpdateWorkflow is the story of one update: answer a button press at once, wait
// for the chat's earlier updates, let the handler decide, deliver what it
// decided, pass the turn. Raw is the update exactly as Telegram sent it.
//
// It fails when a call died or the handler gave up; the failure's type and
// details say why, and a dead letter holds what is left to do. It succeeds for everything else, a chat that is closed to
// the bot included.
func UpdateWorkflow(ctx workflow.Context, in contract.UpdateInput, raw converter.RawValue) (contract.UpdateResult, error) {
	u := newUpdate(ctx, in, raw)
	res, err := u.run(ctx)
	u.pass(ctx)
	res.Answer = u.answered(ctx)
	letter := u.bury(ctx, res, err)
	u.pass(ctx) // wakes whoever asked since
	showEnd(ctx, in.Attributes, worstOf(res))
	return res, u.failure(res, err, letter)
}

// update is the state of one UpdateWorkflow.
type update struct {
	*turn
	in      contract.UpdateInput
	raw     converter.RawValue
	answer  workflow.Future // nil when there is no callback query to answer
	remains remains
	// disturbed is set when the first workflow task was lost: the turn may have been
	// free then, and the handler have run.
	disturbed bool
}

func newUpdate(ctx workflow.Context, in contract.UpdateInput, raw converter.RawValue) *update {
	return &update{turn: newTurn(ctx, in.After), in: in, raw: raw, disturbed: !first(ctx)}
}

// run also waits for the turn of an update that nobody handles: those behind it
// ask it alone whether the chat is free.
func (u *update) run(ctx workflow.Context) (contract.UpdateResult, error) {
	u.answerCallback(ctx)
	if err := u.awaitTurn(ctx); err != nil {
		return contract.UpdateResult{Outcome: contract.Cancelled}, err
	}
	switch {
	case u.in.Dead != "":
		return contract.UpdateResult{Outcome: contract.Dead, Reason: u.in.Dead}, nil
	case u.in.Expired:
		return contract.UpdateResult{Outcome: contract.Expired}, nil
	}
	calls, err := u.handle(ctx)
	if err != nil {
		return contract.UpdateResult{Outcome: contract.Dead, Reason: contract.ReasonHandlerFailed}, err
	}
	return u.deliver(ctx, calls), nil
}

// awaitTurn returns when the chat's previous update is done. Cancelled while it
// waits, an update says so only then: those behind it ask it alone whether the
// chat is free.
func (u *update) awaitTurn(ctx workflow.Context) error {
	err := u.await(ctx, time.Time{})
	if temporal.IsCanceledError(err) && has(ctx, cancelledKeepsPlace) {
		rest, cancel := workflow.NewDisconnectedContext(ctx)
		defer cancel()
		if err := u.await(rest, time.Time{}); err != nil {
			return err
		}
	}
	return err
}

// answerCallback starts the answer to a button press without waiting for it:
// the person's app shows a spinner until it comes. A command leaves when its
// workflow task ends, so before a question for the turn, which may hold the task
// for seconds, the task is ended by a timer.
func (u *update) answerCallback(ctx workflow.Context) {
	unhandled := u.in.Dead != "" || u.in.Expired
	if u.in.CallbackID == "" || !u.in.Handling.AnswerCallbacks || unhandled {
		return
	}
	call := contract.Call{
		Method: "answerCallbackQuery",
		Params: map[string]string{"callback_query_id": u.in.CallbackID},
		TTL:    callbackTTL,
	}
	u.answer = startSend(ctx, u.in.BotID, contract.SendInput{Call: call}, false)
	if u.in.After != "" {
		_ = workflow.Sleep(ctx, time.Millisecond) // cancelled, the turn's wait ends too
	}
}

func (u *update) answered(ctx workflow.Context) *contract.CallResult {
	if u.answer == nil {
		return nil
	}
	res, _ := sent(ctx, contract.Call{Method: "answerCallbackQuery"}, u.answer)
	return &res
}

// failure makes the workflow red for what a person has to act on, and names the
// dead letter by which that can be done.
func (u *update) failure(res contract.UpdateResult, err error, letter string) error {
	if temporal.IsCanceledError(err) {
		return err
	}
	if res.Outcome != contract.Dead {
		return nil
	}
	return dead(res.Reason, why(res, err)+letter, res)
}

// why is one line for the UI: the handler's error, or the call that died.
func why(res contract.UpdateResult, err error) string {
	if err != nil {
		return "handler_failed: " + cause(err)
	}
	for _, c := range res.Calls {
		if c.Outcome == contract.Dead {
			return string(c.Reason) + ": " + c.Error
		}
	}
	return string(res.Reason)
}

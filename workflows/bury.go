package workflows

import (
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// bury leaves a dead letter that outlives this workflow, also one that was
// cancelled, and waits until it is there. Raw is the update's own bytes, nil for
// none. It returns what a failure says of the letter, "" when there is none.
func bury(ctx workflow.Context, in contract.DeadInput, raw any) string {
	if !has(ctx, deadLetters) {
		return ""
	}
	in.At = workflow.Now(ctx)
	ctx, _ = workflow.NewDisconnectedContext(ctx) // its cancel would cancel the letter
	child := workflow.ExecuteChildWorkflow(letterOptions(ctx, in), DeadLetterWorkflow, in, raw)
	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if err != nil && !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		workflow.GetLogger(ctx).Error("no dead letter could be left", "error", err)
		return ""
	}
	return " (dead letter " + stateOf(in).ID() + ")"
}

// letterOptions are those of a dead letter, which is to be listed at once.
func letterOptions(ctx workflow.Context, in contract.DeadInput) workflow.Context {
	state := stateOf(in)
	opts := workflow.ChildWorkflowOptions{
		WorkflowID:            contract.DeadID(in.BotID, state.ID()),
		TaskQueue:             contract.TaskQueue(in.BotID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                  map[string]any{contract.MemoState: state},
		StaticSummary:         in.Method + " died: " + string(in.Reason),
	}
	if in.ChatID != "" {
		opts.StaticSummary = in.Method + " → chat " + in.ChatID + " died: " + string(in.Reason)
	}
	if in.Attributes {
		opts.TypedSearchAttributes = attributes(in.Method, in.ChatID, string(in.Reason))
	}
	return workflow.WithChildOptions(ctx, opts)
}

// remains are the calls of an update that died, and those that were not made
// because of that, in their order.
type remains struct {
	calls []contract.Call
	// ledger is what is known of the first, and deadline when it is too late for
	// it, zero when nobody said so.
	ledger   *contract.Ledger
	deadline time.Time
	// cause is the death to be told: the first, unless a later one is uncertain,
	// which nobody may overlook who has the calls made again.
	cause contract.CallResult
}

func (r *remains) add(w *whole, c contract.CallResult) {
	switch {
	case len(r.calls) == 0:
		r.cause, r.ledger, r.deadline = c, w.ledger(), w.tooLate()
	case c.Reason == contract.ReasonUncertain && r.cause.Reason != contract.ReasonUncertain:
		r.cause = c
	}
	r.calls = append(r.calls, w.left...)
}

// bury leaves a dead letter for an update that died: with the calls that are left
// of it or, when it never got to any, with the update itself.
func (u *update) bury(ctx workflow.Context, res contract.UpdateResult, err error) string {
	if res.Outcome != contract.Dead || temporal.IsCanceledError(err) {
		return ""
	}
	bot := strconv.FormatInt(u.in.BotID, 10)
	in := contract.DeadInput{
		BotID: u.in.BotID, Attributes: u.in.Attributes, Kind: contract.DeadUpdate,
		Key:        strings.TrimPrefix(u.self, contract.DeadUpdate+"/"+bot+"/"),
		AcceptedAt: workflow.GetInfo(ctx).WorkflowStartTime,
	}
	if len(u.remains.calls) > 0 {
		u.remains.fill(&in)
		for _, c := range res.Calls {
			in.Delivered += arrived(c)
		}
		return bury(ctx, in, nil)
	}
	in.Reason, in.Method, in.Update = res.Reason, u.in.Kind, &u.in
	if u.in.ChatID != 0 {
		in.ChatID = strconv.FormatInt(u.in.ChatID, 10)
	}
	if err != nil {
		in.Error, in.Attempts = cause(err), u.in.Handling.Attempts
	}
	return bury(ctx, in, u.raw)
}

// fill puts the remains into a dead letter.
func (r *remains) fill(in *contract.DeadInput) {
	in.Reason, in.Error, in.Attempts = r.cause.Reason, r.cause.Error, r.cause.Attempts
	in.Method, in.ChatID = r.cause.Method, r.cause.ChatID
	in.Calls, in.Ledger, in.Deadline = r.calls, r.ledger, r.deadline
}

// bury leaves a dead letter for a message that died.
func (m *message) bury(ctx workflow.Context, res contract.CallResult) string {
	if res.Outcome != contract.Dead {
		return ""
	}
	var r remains
	r.add(m.whole, res)
	r.calls[0].Key, r.calls[0].At = "", time.Time{} // the letter makes it itself
	in := contract.DeadInput{
		BotID: m.in.BotID, Attributes: m.in.Attributes, Kind: contract.DeadMessage, Key: m.in.Key,
		AcceptedAt: m.accepted(ctx), Delivered: arrived(res),
	}
	r.fill(&in)
	return bury(ctx, in, nil)
}

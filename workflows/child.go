package workflows

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// startMessage starts a message workflow that outlives this one and waits until
// it is there: a child started in the task that closes its parent never starts
// (measured with server 1.29). One that is there already is the same message.
func startMessage(ctx workflow.Context, in contract.MessageInput) (string, error) {
	in.CancelWaits, in.Counted = true, true
	ctx, _ = workflow.NewDisconnectedContext(ctx) // its cancel would cancel the child
	ctx, err := messageOptions(ctx, in)
	if err != nil {
		return "", err
	}
	id := contract.MessageID(in.BotID, in.Key)
	child := workflow.ExecuteChildWorkflow(ctx, MessageWorkflow, in)
	err = child.GetChildWorkflowExecution().Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		return id, nil
	}
	return id, err
}

// messageOptions are those of a call's own workflow, found by its key and its
// chat as if it had been started from outside.
func messageOptions(ctx workflow.Context, in contract.MessageInput) (workflow.Context, error) {
	hash, err := in.Call.Hash()
	if err != nil {
		return nil, err
	}
	opts := workflow.ChildWorkflowOptions{
		WorkflowID:            contract.MessageID(in.BotID, in.Key),
		TaskQueue:             contract.TaskQueue(in.BotID),
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		Memo:                  map[string]any{contract.MemoHash: hash},
		StaticSummary:         in.Call.Summary(),
	}
	if in.Attributes {
		opts.TypedSearchAttributes = attributes(in.Call.Method, in.Call.Address(), scheduled(ctx, in.Call))
	}
	return workflow.WithChildOptions(ctx, opts), nil
}

// attributes are what finds a child; a chat and an outcome of "" are left out.
func attributes(kind, chat, outcome string) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(kind)}
	if chat != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(chat))
	}
	if outcome != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome).ValueSet(outcome))
	}
	return temporal.NewSearchAttributes(set...)
}

// scheduled is the TgOutcome of a message whose time has not come, else "".
func scheduled(ctx workflow.Context, call contract.Call) string {
	if call.At.After(workflow.Now(ctx)) {
		return contract.OutcomeScheduled
	}
	return ""
}

// separate starts a message workflow for a call with a key or a time of its own.
// The key dedupes: asked for again, the call is not made again.
func separate(ctx workflow.Context, in contract.MessageInput) contract.CallResult {
	res := contract.CallResult{Method: in.Call.Method, ChatID: in.Call.Address(), Outcome: contract.Pending}
	id, err := startMessage(ctx, in)
	if err != nil {
		res.Outcome, res.Reason, res.Error = contract.Dead, contract.ReasonGaveUp, cause(err)
	}
	res.WorkflowID = id
	return res
}

// overtaken is what goes on when a call leaves its update's turn.
func overtaken(call contract.Call, ledger contract.Ledger, next, deadline time.Time) *contract.MessageInput {
	return &contract.MessageInput{
		Call: call, Deadline: deadline, NotBefore: next, Overtaken: true, Ledger: &ledger,
	}
}

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
func (u *update) startMessage(ctx workflow.Context, in contract.MessageInput) (string, error) {
	in.BotID, in.Attributes = u.in.BotID, u.in.Attributes
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
		opts.TypedSearchAttributes = attributes(in.Call)
	}
	return workflow.WithChildOptions(ctx, opts), nil
}

func attributes(call contract.Call) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(call.Method)}
	if chat := call.Address(); chat != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(chat))
	}
	return temporal.NewSearchAttributes(set...)
}

// message is what goes on when a call leaves its update's turn.
func message(call contract.Call, ledger contract.Ledger, next, deadline time.Time) *contract.MessageInput {
	return &contract.MessageInput{
		Call: call, Deadline: deadline, NotBefore: next, Overtaken: true, Ledger: &ledger,
	}
}

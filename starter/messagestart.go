package starter

import (
	"context"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// execute starts the message's workflow. A call for later is delayed by the
// server, so that nothing has to run until then.
func (m *Messages) execute(ctx context.Context, res *Accepted, hash string, msg Message) error {
	res.At = m.now()
	call := msg.Call
	opts := client.StartWorkflowOptions{
		ID:                                       res.WorkflowID,
		TaskQueue:                                contract.TaskQueue(m.bot),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		StartDelay:                               max(call.At.Sub(res.At), 0),
		Memo:                                     map[string]any{contract.MemoHash: hash},
		Priority:                                 temporal.Priority{PriorityKey: priorityKey(call.Priority)},
		StaticSummary:                            call.Summary(),
	}
	if m.attributes {
		opts.TypedSearchAttributes = callAttributes(call)
	}
	in := contract.MessageInput{
		BotID: m.bot, Key: res.Key, Call: call, AfterDelivered: msg.AfterDelivered,
		AcceptedAt: res.At, CancelWaits: true, Attributes: m.attributes,
	}
	if msg.After != "" {
		in.After = contract.MessageID(m.bot, msg.After)
	}
	run, err := m.client.ExecuteWorkflow(ctx, opts, contract.MessageWorkflow, in)
	if err != nil {
		return fmt.Errorf("start %s: %w", res.WorkflowID, err)
	}
	res.RunID = run.GetRunID()
	return nil
}

// taken tells the same message from another one under its key. One without a
// hash was started by a handler, for which the key alone decides.
func (m *Messages) taken(ctx context.Context, res *Accepted, hash string) error {
	d, err := m.client.DescribeWorkflowExecution(ctx, res.WorkflowID, "")
	if err != nil {
		return fmt.Errorf("look at %s: %w", res.WorkflowID, err)
	}
	info := d.GetWorkflowExecutionInfo()
	if first := memoText(info.GetMemo(), contract.MemoHash); first != "" && first != hash {
		return fmt.Errorf("%s: %w", res.WorkflowID, ErrOtherContent)
	}
	res.RunID, res.At, res.Duplicate = info.GetExecution().GetRunId(), info.GetStartTime().AsTime(), true
	return nil
}

// priorityKey is the server's order, 1 before 5, of what nobody has polled yet.
// Updates have 3, the default: many bulk messages do not hold them up.
func priorityKey(p contract.Priority) int {
	switch p {
	case contract.Urgent:
		return 1
	case contract.Bulk:
		return 5
	default:
		return 3
	}
}

func callAttributes(call contract.Call) temporal.SearchAttributes {
	set := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(call.Method)}
	if to := call.Address(); to != "" {
		set = append(set, temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat).ValueSet(to))
	}
	return temporal.NewSearchAttributes(set...)
}

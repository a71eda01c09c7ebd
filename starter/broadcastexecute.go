package starter

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// partLife is how long a part waits to be let go, from the time at which its
	// broadcast may begin.
	partLife = 30 * 24 * time.Hour
	// startAction is the first of a broadcast's actions.
	startAction = "start"
)

// options are those of all workflows of the broadcast. State is what the memo shows
// until the workflow itself has something to show.
func (l launch) options(id string, state any, summary string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID:                                       id,
		TaskQueue:                                contract.TaskQueue(l.bot),
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		Memo:                                     map[string]any{contract.MemoHash: l.sealed.hash, contract.MemoState: state},
		StaticSummary:                            summary,
	}
}

// executePart starts part n. It waits to be let go.
func (l launch) executePart(ctx context.Context, id string, n int) error {
	recipients, parts := l.sealed.parts[n-1], len(l.sealed.parts)
	opts := l.options(id, contract.PartState{Total: len(recipients)}, fmt.Sprintf("part %d of %d of %s", n, parts, l.Name))
	opts.Priority = temporal.Priority{PriorityKey: priorityKey(contract.Bulk)}
	in := contract.PartInput{
		BotID: l.bot, Name: l.Name, Part: n, Parts: parts, What: l.What,
		Recipients: make([]contract.Addressee, len(recipients)), Until: l.begins().Add(partLife),
	}
	for i, r := range recipients {
		in.Recipients[i].Recipient = r
	}
	_, err := l.client.ExecuteWorkflow(ctx, opts, contract.BroadcastPartWorkflow, in)
	return err
}

// execute starts the broadcast, which lets its parts go.
func (l launch) execute(ctx context.Context, id string) error {
	state := l.state()
	opts := l.options(id, state, fmt.Sprintf("%s → %d chats", state.Method, state.Total))
	if l.attributes {
		opts.TypedSearchAttributes = temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind).ValueSet(state.Method))
	}
	in := contract.BroadcastInput{BotID: l.bot, Name: l.Name, At: l.At, State: state, Attributes: l.attributes}
	for _, part := range l.sealed.parts {
		in.Sizes = append(in.Sizes, len(part))
	}
	_, err := l.client.ExecuteWorkflow(ctx, opts, contract.BroadcastWorkflow, in)
	return err
}

func (l launch) state() contract.BroadcastState {
	s := contract.BroadcastState{
		Phase: contract.BroadcastRunning, Total: len(l.Recipients), Method: l.What.Call.Method,
		Rate: l.What.Rate, Paid: l.Paid, Origin: l.Origin, AcceptedAt: l.now, At: l.At,
		Actions: []contract.BroadcastOrder{{What: startAction, By: l.By, Reason: l.Reason, At: l.now}},
	}
	if l.At.After(l.now) {
		s.Phase = contract.BroadcastScheduled
	}
	return s
}

// begins is when the first part may be let go.
func (l launch) begins() time.Time {
	if l.At.After(l.now) {
		return l.At
	}
	return l.now
}

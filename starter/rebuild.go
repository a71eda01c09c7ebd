package starter

import (
	"context"
	"fmt"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Rebuild fills the tails from the open update workflows, so that the first
// updates of a new process wait for the last ones of the old. It takes over a
// second and is only needed where the old one left no tails.
func (b *Inbox) Rebuild(ctx context.Context) error {
	newest := map[string]*workflowpb.WorkflowExecutionInfo{}
	err := eachOpen(ctx, b.client, contract.UpdateWorkflow, b.settings.BotID, func(info *workflowpb.WorkflowExecutionInfo) {
		key := memoText(info.GetMemo(), contract.MemoOrder)
		if key != "" && later(info, newest[key]) {
			newest[key] = info
		}
	})
	if err != nil {
		return fmt.Errorf("list open updates: %w", err)
	}
	all := make([]contract.Tail, 0, len(newest))
	for key, info := range newest {
		id := info.GetExecution().GetWorkflowId()
		if update, ok := contract.UpdateOf(id); ok {
			all = append(all, contract.Tail{Key: key, UpdateID: update, WorkflowID: id})
		}
	}
	b.tails.Restore(all)
	return nil
}

// later reports whether a was started after b, or at the same time for a later update.
func later(a, b *workflowpb.WorkflowExecutionInfo) bool {
	if b == nil {
		return true
	}
	at, bt := a.GetStartTime().AsTime(), b.GetStartTime().AsTime()
	if !at.Equal(bt) {
		return at.After(bt)
	}
	au, _ := contract.UpdateOf(a.GetExecution().GetWorkflowId())
	bu, _ := contract.UpdateOf(b.GetExecution().GetWorkflowId())
	return au > bu
}

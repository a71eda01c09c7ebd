package starter

import (
	"context"
	"fmt"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/contract"
)

// visibilityLag is how long a start may take to appear in a list (18–100 ms
// measured on the dev server).
const visibilityLag = time.Second

// Rebuild fills the tails from the open update workflows, so that the first
// updates of a new process wait for the last ones of the old. It lists twice,
// a second apart, because the list lags behind the starts.
func (b *Inbox) Rebuild(ctx context.Context) error {
	if err := b.loadTails(ctx); err != nil {
		return err
	}
	select {
	case <-time.After(visibilityLag):
	case <-ctx.Done():
		return ctx.Err()
	}
	return b.loadTails(ctx)
}

func (b *Inbox) loadTails(ctx context.Context) error {
	query := fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'",
		contract.UpdateWorkflow, contract.TaskQueue(b.settings.BotID))
	newest := map[string]*workflowpb.WorkflowExecutionInfo{}
	for page := []byte(nil); ; {
		res, err := b.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			PageSize: 1000, NextPageToken: page, Query: query,
		})
		if err != nil {
			return fmt.Errorf("list open updates: %w", err)
		}
		for _, info := range res.GetExecutions() {
			key := memoText(info.GetMemo(), contract.MemoOrder)
			if key != "" && later(info, newest[key]) {
				newest[key] = info
			}
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	for key, info := range newest {
		id := info.GetExecution().GetWorkflowId()
		if update, ok := contract.UpdateOf(id); ok {
			b.tails.Move(key, update, id, false)
		}
	}
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

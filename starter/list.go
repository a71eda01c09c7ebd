package starter

import (
	"context"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

// visibilityLag is how long a start may take to appear in a list (18–100 ms
// measured on the dev server).
const visibilityLag = time.Second

// lister is the part of a Temporal client that lists workflows.
type lister interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// eachOpen shows every open workflow of a type and a bot, and all of them again
// a second later, because the list lags behind the starts.
func eachOpen(ctx context.Context, c lister, workflow string, bot int64, show func(*workflowpb.WorkflowExecutionInfo)) error {
	query := fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s' AND ExecutionStatus = 'Running'",
		workflow, contract.TaskQueue(bot))
	if err := eachPage(ctx, c, query, show); err != nil {
		return err
	}
	select {
	case <-time.After(visibilityLag):
	case <-ctx.Done():
		return ctx.Err()
	}
	return eachPage(ctx, c, query, show)
}

func eachPage(ctx context.Context, c lister, query string, show func(*workflowpb.WorkflowExecutionInfo)) error {
	for page := []byte(nil); ; {
		res, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			PageSize: 1000, NextPageToken: page, Query: query,
		})
		if err != nil {
			return err
		}
		for _, info := range res.GetExecutions() {
			show(info)
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			return nil
		}
	}
}

// memoInto reads one field of a memo and reports whether it is there and fits.
func memoInto(m *commonpb.Memo, key string, v any) bool {
	field := m.GetFields()[key]
	return field != nil && converter.GetDefaultDataConverter().FromPayload(field, v) == nil
}

func memoText(m *commonpb.Memo, key string) string {
	var text string
	memoInto(m, key, &text)
	return text
}

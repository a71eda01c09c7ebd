package broadcast

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/contract"
)

// listPage is how many workflows one request lists.
const listPage = 1000

// List tells of all broadcasts of a bot that Temporal knows, the newest first.
// Parts that are under way are not looked at: their recipients are pending, and
// how fast they are reached is not known. One that is half started is left out.
func List(ctx context.Context, c Viewer, bot int64) ([]Status, error) {
	var all []Status
	for page := []byte(nil); ; {
		found, err := list(ctx, c, bot, contract.BroadcastWorkflow, "ExecutionStatus != 'ContinuedAsNew'", page)
		if err != nil {
			return nil, err
		}
		for _, info := range found.GetExecutions() {
			all = append(all, listed(info))
		}
		if page = found.GetNextPageToken(); len(page) == 0 {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b Status) int { return b.AcceptedAt.Compare(a.AcceptedAt) })
	return all, nil
}

func listed(info *workflowpb.WorkflowExecutionInfo) Status {
	s := statusOf(nameOf(info), shown(info), contract.Counts{}, time.Now())
	if s.EndedAt.IsZero() {
		s.RatePerS, s.ETA = 0, nil
	}
	return s
}

// nameOf is the name of a broadcast by its workflow.
func nameOf(info *workflowpb.WorkflowExecutionInfo) string {
	id := info.GetExecution().GetWorkflowId()
	return id[strings.LastIndex(id, "/")+1:]
}

// list returns a page of the bot's workflows of a type.
func list(ctx context.Context, c Viewer, bot int64, workflow, which string, page []byte) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	found, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: listPage, NextPageToken: page,
		Query: fmt.Sprintf("TaskQueue = '%s' AND WorkflowType = '%s' AND %s", contract.TaskQueue(bot), workflow, which),
	})
	if err != nil {
		return nil, fmt.Errorf("list broadcasts: %w", err)
	}
	return found, nil
}

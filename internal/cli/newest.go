package cli

import (
	"context"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
)

const (
	// listLimit is how many rows are listed unless asked otherwise, and listMost
	// how many can be asked for: each is a request.
	listLimit = 20
	listMost  = 1000
	// outcomesAtOnce bounds the requests under way for outcomes.
	outcomesAtOnce = 8
)

// newest finds the executions that were started last.
type newest struct {
	*frontend

	query string
	limit int
	// open and closed are more conditions for those; "" looks at none of them.
	open, closed string
	// keep looks at each one found; nil keeps all.
	keep func(*workflowpb.WorkflowExecutionInfo) bool
}

// Conditions for all that are open, and all that are closed and have not gone on
// in another run.
const (
	anyOpen   = "ExecutionStatus = 'Running'"
	anyClosed = "ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'"
)

// find looks at the open and at the closed ones by themselves, as the server
// lists the open ones first, and the closed ones by when they were closed.
func (n newest) find(ctx context.Context) ([]*workflowpb.WorkflowExecutionInfo, error) {
	var rows []*workflowpb.WorkflowExecutionInfo
	if n.open != "" {
		enough := func(*workflowpb.WorkflowExecutionInfo) bool { return len(rows) >= n.limit }
		if err := n.collect(ctx, n.open, &rows, enough); err != nil {
			return nil, err
		}
	}
	if n.closed != "" {
		settled := func(next *workflowpb.WorkflowExecutionInfo) bool {
			return n.settled(rows, next.GetCloseTime().AsTime())
		}
		if err := n.collect(ctx, n.closed, &rows, settled); err != nil {
			return nil, err
		}
	}
	newestFirst(rows)
	return rows[:min(len(rows), n.limit)], nil
}

// settled reports whether one closed at this time, or before, came too early to
// be among the newest: it came before it was closed.
func (n newest) settled(rows []*workflowpb.WorkflowExecutionInfo, closed time.Time) bool {
	newestFirst(rows)
	return len(rows) >= n.limit && closed.Before(rows[n.limit-1].GetStartTime().AsTime())
}

// collect appends what a condition finds until enough says so of the next one.
func (n newest) collect(ctx context.Context, condition string, rows *[]*workflowpb.WorkflowExecutionInfo, enough func(*workflowpb.WorkflowExecutionInfo) bool) error {
	return n.each(ctx, n.query+" AND "+condition, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if enough(info) {
			return false
		}
		if n.keep == nil || n.keep(info) {
			*rows = append(*rows, info)
		}
		return true
	})
}

// newestFirst sorts by the time of arrival.
func newestFirst(rows []*workflowpb.WorkflowExecutionInfo) {
	slices.SortStableFunc(rows, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return b.GetStartTime().AsTime().Compare(a.GetStartTime().AsTime())
	})
}

// isOpen reports whether an execution is open.
func isOpen(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

package cli

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/durabot/durabot/internal/contract"
)

// listPage is how many executions are asked for at a time.
const listPage = 200

// ofBot is the query for a bot's updates.
func ofBot(bot int64) string { return ofType(contract.UpdateWorkflow, bot) }

// ofType is the query for a bot's workflows of a type.
func ofType(workflow string, bot int64) string {
	return fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s'", workflow, contract.TaskQueue(bot))
}

// inspect is what the server knows of a workflow beside its history. The client's
// own DescribeWorkflow panics on an answer without search attributes.
func (s *frontend) inspect(ctx context.Context, id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return s.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: s.options.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: id},
	})
}

// count counts the namespace's workflows that a query finds.
func (s *frontend) count(ctx context.Context, query string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	res, err := s.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: s.options.Namespace, Query: query,
	})
	return res.GetCount(), err
}

// each shows what a query finds until show says that it is enough.
func (s *frontend) each(ctx context.Context, query string, show func(*workflowpb.WorkflowExecutionInfo) bool) error {
	for page := []byte(nil); ; {
		call, cancel := context.WithTimeout(ctx, temporalCall)
		res, err := s.ListWorkflow(call, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: s.options.Namespace, PageSize: listPage, NextPageToken: page, Query: query,
		})
		cancel()
		if err != nil {
			return err
		}
		for _, info := range res.GetExecutions() {
			if !show(info) {
				return nil
			}
		}
		if page = res.GetNextPageToken(); len(page) == 0 {
			return nil
		}
	}
}

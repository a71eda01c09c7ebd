package worker

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

// stepMost is what one step of polling takes at most: a poll, or a request to
// Temporal, which the SDK tries again for a minute.
const stepMost = time.Minute

// pulse shows health that a batch is being stored: each request of it may take a
// minute while Temporal is slow, and all of them many.
type pulse struct {
	starter.Client
	health *telemetry.Health
}

func (p pulse) beat() { p.health.AliveUntil(time.Now().Add(stepMost)) }

// ExecuteWorkflow shows that it ended.
func (p pulse) ExecuteWorkflow(ctx context.Context, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	defer p.beat()
	return p.Client.ExecuteWorkflow(ctx, o, workflow, args...)
}

// DescribeWorkflowExecution shows that it ended.
func (p pulse) DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	defer p.beat()
	return p.Client.DescribeWorkflowExecution(ctx, workflowID, runID)
}

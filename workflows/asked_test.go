package workflows_test

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
)

// asked records with which options a workflow asks for activities and children:
// the test environment heeds only a part of them.
type asked struct {
	interceptor.WorkerInterceptorBase
	activities []workflow.ActivityOptions
	children   []workflow.ChildWorkflowOptions
}

func (a *asked) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &askedIn{interceptor.WorkflowInboundInterceptorBase{Next: next}, a}
}

type askedIn struct {
	interceptor.WorkflowInboundInterceptorBase
	asked *asked
}

func (a *askedIn) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return a.Next.Init(&askedOut{interceptor.WorkflowOutboundInterceptorBase{Next: out}, a.asked})
}

type askedOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	asked *asked
}

func (a *askedOut) ExecuteActivity(ctx workflow.Context, kind string, args ...any) workflow.Future {
	a.asked.activities = append(a.asked.activities, workflow.GetActivityOptions(ctx))
	return a.Next.ExecuteActivity(ctx, kind, args...)
}

func (a *askedOut) ExecuteChildWorkflow(ctx workflow.Context, kind string, args ...any) workflow.ChildWorkflowFuture {
	a.asked.children = append(a.asked.children, workflow.GetChildWorkflowOptions(ctx))
	return a.Next.ExecuteChildWorkflow(ctx, kind, args...)
}

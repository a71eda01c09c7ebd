package workflows_test

import (
	"encoding/json"
	"time"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// crew runs the batches of a broadcast. It is a fake in front of the test
// environment, which ends a cancelled activity at once whatever its options say:
// a batch of this one hears of the cancel and returns what is done.
type crew struct {
	interceptor.WorkerInterceptorBase
	send    func(ctx workflow.Context, in contract.BatchInput) (contract.BatchResult, error)
	started []contract.BatchInput
	options []workflow.ActivityOptions
	open    map[string]int // by workflow
	most    int            // the most that were open at once
}

func (c *crew) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &crewIn{interceptor.WorkflowInboundInterceptorBase{Next: next}, c}
}

type crewIn struct {
	interceptor.WorkflowInboundInterceptorBase
	crew *crew
}

func (c *crewIn) Init(out interceptor.WorkflowOutboundInterceptor) error {
	return c.Next.Init(&crewOut{interceptor.WorkflowOutboundInterceptorBase{Next: out}, c.crew})
}

type crewOut struct {
	interceptor.WorkflowOutboundInterceptorBase
	crew *crew
}

// ExecuteActivity is no part of a workflow that is recorded.
//
//workflowcheck:ignore
func (c *crewOut) ExecuteActivity(ctx workflow.Context, kind string, args ...any) workflow.Future {
	var in contract.BatchInput
	if err := json.Unmarshal([]byte(asJSON(args[0])), &in); err != nil || kind != contract.SendBatchActivity {
		panic(kind)
	}
	id := workflow.GetInfo(ctx).WorkflowExecution.ID
	c.crew.started = append(c.crew.started, in)
	c.crew.options = append(c.crew.options, workflow.GetActivityOptions(ctx))
	c.crew.open[id]++
	c.crew.most = max(c.crew.most, c.crew.open[id])
	future, settable := workflow.NewFuture(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		res, err := c.crew.send(ctx, in)
		c.crew.open[id]--
		if err != nil {
			settable.SetError(err)
			return
		}
		settable.SetValue(res)
	})
	return future
}

// reaches is a batch that reaches one recipient a second until it is cancelled.
func reaches(ctx workflow.Context, in contract.BatchInput) (res contract.BatchResult, err error) {
	for i, a := range in.Recipients {
		if workflow.Sleep(ctx, time.Second) != nil {
			res.Left = in.Recipients[i:]
			return res, nil
		}
		res.Results = append(res.Results, got(a.Chat, workflow.Now(ctx)))
	}
	return res, nil
}

func got(chat string, at time.Time) contract.RecipientResult {
	return contract.RecipientResult{Chat: chat, Outcome: contract.Delivered, MessageID: "1", At: at.UTC()}
}

package worker

import (
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/workflows"
)

const (
	// stopTimeout is what a worker gives its tasks to end. The process is gone
	// within 25 s of a SIGTERM.
	stopTimeout = 20 * time.Second
	// dutyStopTimeout lets a term on duty end, which stops the other workers first.
	dutyStopTimeout = 25 * time.Second
	// cachedWorkflows bounds memory: 2,200 cached open workflows held 90 MB.
	cachedWorkflows = 1500
)

// newMain is the worker that every process has: workflows, what they ask for at
// once, the handler.
func newMain(c client.Client, bot int64, turns *activities.Turns, handling *activities.Handling, fatal func(error)) worker.Worker {
	worker.SetStickyWorkflowCacheSize(cachedWorkflows)
	w := worker.New(c, contract.TaskQueue(bot), mainOptions(fatal))
	for name, fn := range map[string]any{
		contract.UpdateWorkflow:  workflows.UpdateWorkflow,
		contract.MessageWorkflow: workflows.MessageWorkflow,
		contract.ChatWorkflow:    workflows.ChatWorkflow,
		contract.DutyWorkflow:    workflows.DutyWorkflow,

		contract.DeadLetterWorkflow: workflows.DeadLetterWorkflow,

		contract.BroadcastWorkflow:     workflows.BroadcastWorkflow,
		contract.BroadcastPartWorkflow: workflows.BroadcastPartWorkflow,
	} {
		w.RegisterWorkflowWithOptions(fn, workflow.RegisterOptions{Name: name})
	}
	w.RegisterActivity(turns.AwaitTurn)
	w.RegisterActivity(turns.PassTurn)
	w.RegisterActivity(turns.Outcome)
	w.RegisterActivity(turns.Attempts)
	w.RegisterActivity(activities.Split)
	w.RegisterActivity(handling.Handle)
	return w
}

// newDuty is the worker that asks for the right to talk to Telegram.
func newDuty(c client.Client, bot int64, duty *activities.Duty, fatal func(error)) worker.Worker {
	w := worker.New(c, contract.DutyQueue(bot), dutyOptions(fatal))
	w.RegisterActivityWithOptions(duty.HoldDuty, activity.RegisterOptions{Name: contract.HoldDutyActivity})
	return w
}

func mainOptions(fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentWorkflowTaskPollers: 8,
		MaxConcurrentActivityTaskPollers: 2,
		WorkerStopTimeout:                stopTimeout,
		OnFatalError:                     fatal,
	}
}

// dutyOptions let one term run at a time.
func dutyOptions(fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: 1,
		MaxConcurrentActivityTaskPollers:   1,
		DisableWorkflowWorker:              true,
		WorkerStopTimeout:                  dutyStopTimeout,
		OnFatalError:                       fatal,
	}
}

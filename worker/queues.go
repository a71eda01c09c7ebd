package worker

import (
	"fmt"
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
	// cachedWorkflows bounds memory: 2,200 cached open workflows held 90 MB.
	cachedWorkflows = 1500
	// sendSlots is two seconds of the default rate plus what is in the air.
	sendSlots = 2*28 + 50
	// unlimitedSlots is for a sender without limits, whose calls only wait for answers.
	unlimitedSlots = 256
	answerSlots    = 100
)

// queues are the workers of one process.
type queues struct {
	main, send, answer worker.Worker
}

// parts are what the workers run.
type parts struct {
	turns    *activities.Turns
	handling *activities.Handling
	sender   *activities.Sender
}

func newQueues(c client.Client, bot int64, p parts, slots int, fatal func(error)) *queues {
	worker.SetStickyWorkflowCacheSize(cachedWorkflows)
	q := &queues{
		main:   worker.New(c, contract.TaskQueue(bot), mainOptions(fatal)),
		send:   worker.New(c, contract.SendQueue(bot), sendOptions(slots, fatal)),
		answer: worker.New(c, contract.AnswerQueue(bot), sendOptions(answerSlots, fatal)),
	}
	q.main.RegisterWorkflowWithOptions(workflows.UpdateWorkflow, workflow.RegisterOptions{Name: contract.UpdateWorkflow})
	q.main.RegisterWorkflowWithOptions(workflows.MessageWorkflow, workflow.RegisterOptions{Name: contract.MessageWorkflow})
	q.main.RegisterActivity(p.turns.AwaitTurn)
	q.main.RegisterActivity(p.turns.PassTurn)
	q.main.RegisterActivity(p.handling.Handle)
	for _, w := range []worker.Worker{q.send, q.answer} {
		w.RegisterActivityWithOptions(p.sender.Send, activity.RegisterOptions{Name: contract.SendActivity})
	}
	return q
}

func mainOptions(fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentWorkflowTaskPollers: 8,
		MaxConcurrentActivityTaskPollers: 2,
		WorkerStopTimeout:                stopTimeout,
		OnFatalError:                     fatal,
	}
}

// sendOptions keep pollers few: each takes a task out of the server's order of
// priority before there is a slot for it.
func sendOptions(slots int, fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		MaxConcurrentActivityTaskPollers:   4,
		DisableWorkflowWorker:              true,
		WorkerStopTimeout:                  stopTimeout,
		OnFatalError:                       fatal,
	}
}

// start starts the senders before those who give them work. Half a start is
// rolled back.
func (q *queues) start() error {
	var started []worker.Worker
	for _, w := range []worker.Worker{q.answer, q.send, q.main} {
		if err := w.Start(); err != nil {
			for _, s := range started {
				s.Stop()
			}
			return fmt.Errorf("start workers: %w", err)
		}
		started = append(started, w)
	}
	return nil
}

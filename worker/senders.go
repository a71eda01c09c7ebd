package worker

import (
	"fmt"
	"sync"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker/limiter"
)

const (
	// leastSlots is for a slow bot, unlimitedSlots for one without limits, whose
	// calls only wait for answers.
	leastSlots     = 16
	unlimitedSlots = 256
	answerSlots    = 100
	// batchSlots is how many batches of recipients are under way at a time, of ten
	// that a broadcast may have.
	batchSlots = 200
)

// senders are the workers of a term: one for each class of calls, so that each
// is represented before the budget, which alone decides between them, one for
// answers to queries, which wait for nothing else, and one for broadcasts.
type senders []worker.Worker

func newSenders(c client.Client, bot int64, sender *activities.Sender, slots int, fatal func(error)) senders {
	all := senders{worker.New(c, contract.AnswerQueue(bot), sendOptions(answerSlots, fatal))}
	for _, class := range []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk} {
		all = append(all, worker.New(c, contract.SendQueue(bot, class), sendOptions(slots, fatal)))
	}
	for _, w := range all {
		w.RegisterActivityWithOptions(sender.Send, activity.RegisterOptions{Name: contract.SendActivity})
	}
	batches := worker.New(c, contract.BatchQueue(bot), sendOptions(batchSlots, fatal))
	batches.RegisterActivityWithOptions(sender.SendBatch, activity.RegisterOptions{Name: contract.SendBatchActivity})
	return append(all, batches)
}

// start starts all, or rolls back.
func (s senders) start() error {
	for i, w := range s {
		if err := w.Start(); err != nil {
			s[:i].stop()
			return fmt.Errorf("start senders: %w", err)
		}
	}
	return nil
}

// stop returns when all have stopped.
func (s senders) stop() { s.stopping()() }

// stopping makes all stop taking calls. What it returns waits until those that
// were taken have ended.
func (s senders) stopping() (stopped func()) {
	var all sync.WaitGroup
	for _, w := range s {
		all.Go(w.Stop)
	}
	return all.Wait
}

// sendOptions keep pollers few: what is taken waits here for its turn, and the
// rest in the server.
func sendOptions(slots int, fatal func(error)) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: slots,
		MaxConcurrentActivityTaskPollers:   4,
		DisableWorkflowWorker:              true,
		WorkerStopTimeout:                  stopTimeout,
		OnFatalError:                       fatal,
	}
}

// sendSlots is how many calls of a class are taken from the server at a time:
// two seconds of the bot's rate plus what is in the air.
func sendSlots(cfg limiter.Config) int {
	if cfg.GlobalPerSecond == 0 || cfg.InFlight == 0 {
		return unlimitedSlots
	}
	return max(leastSlots, int(2*cfg.GlobalPerSecond)+cfg.InFlight)
}

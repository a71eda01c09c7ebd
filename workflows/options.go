package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// localHandlerMost is the longest handler that runs as a local activity: it
	// holds the workflow task, whose timeout is 10 s.
	localHandlerMost = 5 * time.Second
	// handlerHeartbeat is how soon a handler whose process died is tried again.
	handlerHeartbeat = 15 * time.Second
	// sendAttempt bounds one attempt: the wait for the budget and the request.
	sendAttempt = 10 * time.Minute
	// sendHeartbeat is how soon a send whose process died is taken up again.
	sendHeartbeat = 15 * time.Second
	// callbackTTL is how long Telegram keeps a button press
	// (tdlib/telegram-bot-api, Client.cpp).
	callbackTTL = 150 * time.Second
	// batchAttempt bounds one batch of a broadcast, which returns by itself within
	// half of it.
	batchAttempt = 10 * time.Minute
	// batchHeartbeat is how soon a batch whose process died is given up.
	batchHeartbeat = 15 * time.Second
	// batchLate is what a batch may take beyond its recipients' deadline.
	batchLate = 10 * time.Minute
	// dutyTerm bounds one term on duty, which ends by itself after 24 h.
	dutyTerm = 25 * time.Hour
	// dutyHeartbeat is how soon a holder whose process died is replaced.
	dutyHeartbeat = 15 * time.Second
)

// turnOptions bound a question for the turn: 4 s of it may pass in memory.
var turnOptions = workflow.LocalActivityOptions{
	StartToCloseTimeout: 8 * time.Second,
	RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 2},
}

// splitOptions let a cut be tried until it succeeds: it depends on nothing but
// the call.
var splitOptions = workflow.LocalActivityOptions{StartToCloseTimeout: 5 * time.Second}

func localHandler(ctx workflow.Context, h contract.Handling) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: h.Timeout,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:             "handler",
	})
}

func handlerOptions(ctx workflow.Context, in contract.UpdateInput, attempts int) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           contract.TaskQueue(in.BotID),
		StartToCloseTimeout: in.Handling.Timeout,
		HeartbeatTimeout:    handlerHeartbeat,
		RetryPolicy:         &temporal.RetryPolicy{MaximumAttempts: int32(attempts)}, //nolint:gosec // a handful
		Summary:             "handler",
	})
}

// sendOptions let the server retry a call for as long as it may live. There is
// no limit of attempts: waiting for Telegram uses none, and the call's ledger
// counts the failures.
func sendOptions(ctx workflow.Context, bot int64, in contract.SendInput) workflow.Context {
	queue := contract.SendQueue(bot, in.Call.Priority)
	if in.Call.AnswersQuery() {
		queue = contract.AnswerQueue(bot)
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              queue,
		ScheduleToCloseTimeout: max(in.Deadline.Sub(workflow.Now(ctx)), time.Millisecond),
		StartToCloseTimeout:    sendAttempt,
		HeartbeatTimeout:       sendHeartbeat,
		DisableEagerExecution:  true,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		Summary:                in.Call.Method,
	})
}

// batchOptions let a batch be tried once: the part judges by its ledger what is to
// be batched again. If the server retried it, a cancel between two attempts would
// close it without its ledger, and those it had reached would be reached again.
func batchOptions(ctx workflow.Context, bot int64, in contract.BatchInput) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              contract.BatchQueue(bot),
		ScheduleToCloseTimeout: in.Deadline.Sub(workflow.Now(ctx)) + batchLate,
		StartToCloseTimeout:    batchAttempt,
		HeartbeatTimeout:       batchHeartbeat,
		WaitForCancellation:    true,
		DisableEagerExecution:  true,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                fmt.Sprintf("part %d, %d recipients", in.Part, len(in.Recipients)),
	})
}

// dutyOptions let the server find a new holder a second after the last one was
// given up, however often that has happened before.
func dutyOptions(ctx workflow.Context, bot int64) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:             contract.DutyQueue(bot),
		StartToCloseTimeout:   dutyTerm,
		HeartbeatTimeout:      dutyHeartbeat,
		WaitForCancellation:   true,
		DisableEagerExecution: true,
		RetryPolicy:           &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1},
		Summary:               "on duty",
	})
}

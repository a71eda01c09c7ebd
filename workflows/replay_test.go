package workflows_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/workflows"
)

// Every file in testdata/histories is the history of one workflow on a real
// server, named after what happened in it. A history stays as long as a workflow
// that was started by the code of its time may be open.
//
// To record one, make it happen on `durabot dev` (the simulator's admin API, in
// internal/telegramsim, blocks chats, answers 429 and injects faults), and run
//
//	temporal workflow show -w WORKFLOW_ID -o json > workflows/testdata/histories/NAME.json
//
// Replace the value of every "identity", which names a machine, by "durabot", and
// the machine's name elsewhere: in the names of queues, and in what "by" says in
// payloads. Of a workflow that continues as new that is the run of now; -r RUN_ID
// names an earlier one. A term on duty ends when its process is stopped. A chat's
// workflow opens when a call meets a closed chat, a migration or a 429 of more
// than 30 s, and ends when an update comes from it. Those that continue as new
// when their history is long do so soon on a server that was started with
// --dynamic-config-value limit.historyCount.suggestContinueAsNew=20.
func histories(t *testing.T) map[string]*historypb.History {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "without a history nothing is tested")
	all := make(map[string]*historypb.History, len(files))
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
		require.NoError(t, f.Close())
		require.NoError(t, err, file)
		all[filepath.Base(file)] = h
	}
	return all
}

// known are the workflows that a history may be of.
var known = map[string]any{
	contract.UpdateWorkflow:  workflows.UpdateWorkflow,
	contract.MessageWorkflow: workflows.MessageWorkflow,
	contract.ChatWorkflow:    workflows.ChatWorkflow,
	contract.DutyWorkflow:    workflows.DutyWorkflow,

	contract.DeadLetterWorkflow: workflows.DeadLetterWorkflow,

	contract.BroadcastWorkflow:     workflows.BroadcastWorkflow,
	contract.BroadcastPartWorkflow: workflows.BroadcastPartWorkflow,
}

// replay runs a history against the workflows of today, under the ID of its
// workflow: a dead letter is named after what died.
func replay(t *testing.T, h *historypb.History, changes ...interceptor.WorkerInterceptor) error {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DisableDeadlockDetection: true, Interceptors: changes,
	})
	require.NoError(t, err)
	for name, w := range known {
		r.RegisterWorkflowWithOptions(w, workflow.RegisterOptions{Name: name})
	}
	id := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowId()
	return r.ReplayWorkflowHistoryWithOptions(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), h,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: id}})
}

func TestEveryRecordedHistoryReplays(t *testing.T) {
	t.Parallel()
	for name, h := range histories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, replay(t, h))
		})
	}
}

// The negative control: workflows that ask for one activity more than those that
// were recorded do not replay.
func TestAChangedWorkflowDoesNotReplay(t *testing.T) {
	t.Parallel()
	for name, h := range histories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Error(t, replay(t, h, new(changed)))
		})
	}
}

func TestEveryWorkflowHasARecordedHistory(t *testing.T) {
	t.Parallel()
	recorded := map[string]bool{}
	for _, h := range histories(t) {
		recorded[h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()] = true
	}
	for name := range known {
		require.True(t, recorded[name], name)
	}
	require.Len(t, recorded, len(known))
}

// changed puts one activity more in front of every workflow.
type changed struct {
	interceptor.WorkerInterceptorBase
}

func (*changed) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &oneMore{interceptor.WorkflowInboundInterceptorBase{Next: next}}
}

type oneMore struct {
	interceptor.WorkflowInboundInterceptorBase
}

func (w *oneMore) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
	if err := workflow.ExecuteLocalActivity(local, func(context.Context) error { return nil }).Get(ctx, nil); err != nil {
		return nil, err
	}
	return w.Next.ExecuteWorkflow(ctx, in)
}

// What only a server's history shows: how children are started, and how sends
// are retried.
func TestRecordedCommandsAreThoseOfTheContract(t *testing.T) {
	t.Parallel()
	children, sends := 0, 0
	for name, h := range histories(t) {
		for _, e := range h.GetEvents() {
			require.NotEqual(t, enumspb.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED, e.GetEventType(),
				"%s cancels the message it started", name)
			if child := e.GetStartChildWorkflowExecutionInitiatedEventAttributes(); child != nil {
				children++
				require.Equal(t, enumspb.PARENT_CLOSE_POLICY_ABANDON, child.GetParentClosePolicy(), name)
				reuse := enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
				if child.GetWorkflowType().GetName() == contract.DeadLetterWorkflow {
					reuse = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
				}
				require.Equal(t, reuse, child.GetWorkflowIdReusePolicy(), name)
			}
			if send := e.GetActivityTaskScheduledEventAttributes(); send.GetActivityType().GetName() == contract.SendActivity {
				sends++
				require.Zero(t, send.GetRetryPolicy().GetMaximumAttempts(), "the ledger counts, not the server")
			}
		}
	}
	require.NotZero(t, children)
	require.NotZero(t, sends)
}

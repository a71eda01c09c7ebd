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
	"go.temporal.io/sdk/converter"
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
// Replace the value of every "identity", which names a machine, by "durabot".
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

// replay runs a history against these workflows.
func replay(t *testing.T, h *historypb.History, update, message any) error {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	require.NoError(t, err)
	r.RegisterWorkflowWithOptions(update, workflow.RegisterOptions{Name: contract.UpdateWorkflow})
	r.RegisterWorkflowWithOptions(message, workflow.RegisterOptions{Name: contract.MessageWorkflow})
	return r.ReplayWorkflowHistory(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)), h)
}

func TestEveryRecordedHistoryReplays(t *testing.T) {
	t.Parallel()
	for name, h := range histories(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, replay(t, h, workflows.UpdateWorkflow, workflows.MessageWorkflow))
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
			require.Error(t, replay(t, h, changedUpdate, changedMessage))
		})
	}
}

func changedUpdate(ctx workflow.Context, in contract.UpdateInput, raw converter.RawValue) (contract.UpdateResult, error) {
	if err := oneMore(ctx); err != nil {
		return contract.UpdateResult{}, err
	}
	return workflows.UpdateWorkflow(ctx, in, raw)
}

func changedMessage(ctx workflow.Context, in contract.MessageInput) (contract.CallResult, error) {
	if err := oneMore(ctx); err != nil {
		return contract.CallResult{}, err
	}
	return workflows.MessageWorkflow(ctx, in)
}

func oneMore(ctx workflow.Context) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Second})
	return workflow.ExecuteLocalActivity(ctx, func(context.Context) error { return nil }).Get(ctx, nil)
}

// What only a server's history shows: how children are started, and in which
// order of priority sends wait.
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
				require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE, child.GetWorkflowIdReusePolicy(), name)
			}
			if send := e.GetActivityTaskScheduledEventAttributes(); send.GetActivityType().GetName() == contract.SendActivity {
				sends++
				require.Equal(t, int32(3), send.GetPriority().GetPriorityKey(), name)
				require.Zero(t, send.GetRetryPolicy().GetMaximumAttempts(), "the ledger counts, not the server")
			}
		}
	}
	require.NotZero(t, children)
	require.NotZero(t, sends)
}

package starter

import (
	"context"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/durabot/durabot/internal/contract"
)

// dutyTaskTimeout is short: a duty workflow decides little, and while the
// process that has its task is dying nobody talks to Telegram.
const dutyTaskTimeout = 2 * time.Second

// EnsureDuty starts the bot's duty workflow. That it runs already is fine.
func EnsureDuty(ctx context.Context, c Client, bot int64) error {
	opts := client.StartWorkflowOptions{
		ID:                       contract.DutyID(bot),
		TaskQueue:                contract.TaskQueue(bot),
		WorkflowTaskTimeout:      dutyTaskTimeout,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                     map[string]any{contract.MemoState: contract.DutyState{}},
		Priority:                 temporal.Priority{PriorityKey: priorityKey(contract.Urgent)}, // a take-over waits for no message
		StaticSummary:            "one process at a time talks to Telegram",
	}
	if _, err := c.ExecuteWorkflow(ctx, opts, contract.DutyWorkflow, contract.DutyInput{BotID: bot}); err != nil {
		return fmt.Errorf("start %s: %w", opts.ID, err)
	}
	return nil
}

// Holder is who has the duty of a bot.
type Holder struct {
	// Running is whether there is a duty workflow at all. Without one the rest is
	// zero.
	Running bool
	// Identity is the Temporal identity of the process on duty, "" for nobody.
	Identity string
	// Since is when it got the duty.
	Since time.Time
	// Beat is its last heartbeat, zero before the first.
	Beat contract.Beat
	// WaitingSince is since when nobody has the duty, zero while somebody has. It
	// may lie a second ahead.
	WaitingSince time.Time
	// Pause is in force, nil when the bot may send.
	Pause *contract.Pause
}

// DutyHolder looks up who has the duty of a bot, by one request. That nobody
// ever had it is no error.
func DutyHolder(ctx context.Context, c Client, bot int64) (Holder, error) {
	d, err := c.DescribeWorkflowExecution(ctx, contract.DutyID(bot), "")
	if notFound(err) {
		return Holder{}, nil
	}
	if err != nil {
		return Holder{}, fmt.Errorf("look at %s: %w", contract.DutyID(bot), err)
	}
	info := d.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return Holder{}, nil
	}
	var state contract.DutyState
	memoInto(info.GetMemo(), contract.MemoState, &state)
	h := Holder{Running: true, Pause: state.Pause}
	term := pendingTerm(d)
	if !held(term) {
		h.WaitingSince = waitingSince(d, term)
		return h, nil
	}
	h.Identity, h.Since, h.Beat = term.GetLastWorkerIdentity(), term.GetLastStartedTime().AsTime(), lastBeat(term)
	return h, nil
}

// pendingTerm is nil between two terms.
func pendingTerm(d *workflowservice.DescribeWorkflowExecutionResponse) *workflowpb.PendingActivityInfo {
	for _, a := range d.GetPendingActivities() {
		if a.GetActivityType().GetName() == contract.HoldDutyActivity {
			return a
		}
	}
	return nil
}

func held(term *workflowpb.PendingActivityInfo) bool {
	switch term.GetState() {
	case enumspb.PENDING_ACTIVITY_STATE_STARTED, enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED, enumspb.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED:
		return true
	}
	return false
}

// lastBeat passes over a heartbeat of an earlier attempt, of a process that is gone.
func lastBeat(term *workflowpb.PendingActivityInfo) contract.Beat {
	var beat contract.Beat
	details := term.GetHeartbeatDetails().GetPayloads()
	mine := term.GetLastHeartbeatTime().AsTime().After(term.GetLastStartedTime().AsTime())
	if !mine || len(details) == 0 || converter.GetDefaultDataConverter().FromPayload(details[0], &beat) != nil {
		return contract.Beat{}
	}
	return beat
}

// waitingSince is when the first who came could have had the term: up to the
// retry's second after the last one ended. When an attempt ended is not told of
// one that timed out (measured, server 1.29.1).
func waitingSince(d *workflowservice.DescribeWorkflowExecutionResponse, term *workflowpb.PendingActivityInfo) time.Time {
	for _, at := range []*timestamppb.Timestamp{
		term.GetScheduledTime(),
		d.GetPendingWorkflowTask().GetOriginalScheduledTime(),
	} {
		if at != nil {
			return at.AsTime()
		}
	}
	return d.GetWorkflowExecutionInfo().GetStartTime().AsTime()
}

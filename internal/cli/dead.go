package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

func (p Program) deadCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dead", Short: "Look at what died, send it again or give it up", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.deadListCommand(g), p.deadShowCommand(g), p.deadReplayCommand(g), p.deadDiscardCommand(g))
	return cmd
}

// deadWorkflow is the workflow ID of the dead letter that a person means: by its
// id, as the list shows it, or by the workflow ID itself.
func (p Program) deadWorkflow(g *global, arg string) (string, error) {
	kind, key, _ := strings.Cut(arg, "/")
	switch {
	case key == "":
	case kind == "dead" && strings.Count(arg, "/") >= 3:
		return arg, nil
	case kind == contract.DeadMessage, kind == contract.DeadUpdate:
		bot, err := p.bot(g)
		return contract.DeadID(bot, arg), err
	}
	return "", usage(fmt.Errorf("want the id of a dead letter such as message/order-17 or update/42, got %q", arg))
}

// deadLetter is a dead letter as its workflow shows it.
type deadLetter struct {
	contract.DeadState

	workflowID, runID string
}

// id is what people call it: what stands behind the bot in its workflow ID.
func (d deadLetter) id() string {
	if parts := strings.SplitN(d.workflowID, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return d.workflowID
}

// newDeadLetter reads what an execution shows. One that was terminated never came
// to show that, so how it was closed is its state.
func newDeadLetter(info *workflowpb.WorkflowExecutionInfo) deadLetter {
	d := deadLetter{workflowID: info.GetExecution().GetWorkflowId(), runID: info.GetExecution().GetRunId()}
	d.DeadState, _ = deadState(info.GetMemo().GetFields()[contract.MemoState])
	open := info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	if !open {
		d.Replaying = false
		if d.State == contract.DeadOpen {
			d.State = contract.DeadLetterState(status(info.GetStatus()))
		}
	}
	return d
}

func deadState(payload *commonpb.Payload) (contract.DeadState, bool) {
	var state contract.DeadState
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &state) != nil {
		return contract.DeadState{}, false
	}
	return state, true
}

// deadRow is one dead letter as scripts read it. Every field is always there,
// but a deadline that nobody set.
type deadRow struct {
	ID         string                   `json:"id"`
	Reason     contract.Reason          `json:"reason"`
	Kind       string                   `json:"kind"`
	ChatID     string                   `json:"chat_id"`
	Method     string                   `json:"method"`
	Error      string                   `json:"error"`
	At         time.Time                `json:"at"`
	Attempts   int                      `json:"attempts"`
	State      contract.DeadLetterState `json:"state"`
	Replaying  bool                     `json:"replaying"`
	Left       int                      `json:"left"`
	Delivered  int                      `json:"delivered"`
	AcceptedAt time.Time                `json:"accepted_at"`
	Deadline   time.Time                `json:"deadline,omitzero"`
	WorkflowID string                   `json:"workflow_id"`
}

func (d deadLetter) row() deadRow {
	return deadRow{
		ID: d.id(), Reason: d.Reason, Kind: d.Kind, ChatID: d.ChatID, Method: d.Method, Error: d.Error, At: d.At,
		Attempts: d.Attempts, State: d.State, Replaying: d.Replaying, Left: d.Left, Delivered: d.Delivered,
		AcceptedAt: d.AcceptedAt, Deadline: d.Deadline, WorkflowID: d.workflowID,
	}
}

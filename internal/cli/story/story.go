package story

import (
	"fmt"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Source is what Temporal knows of one workflow.
type Source struct {
	// Events is the whole history, in order.
	Events []*historypb.HistoryEvent
	// Pending are the activities under way, as Describe lists them; they are in
	// the history only once they have ended.
	Pending []*workflowpb.PendingActivityInfo
}

// Story is one update's way, as far as it has come. Ids are strings, as JSON
// numbers lose digits beyond 2^53. Times that have not come are zero.
type Story struct {
	UpdateID   string    `json:"update_id"`
	WorkflowID string    `json:"workflow_id"`
	Kind       string    `json:"kind"`
	ChatID     string    `json:"chat_id,omitempty"`
	UserID     string    `json:"user_id,omitempty"`
	ReceivedAt time.Time `json:"received_at"`
	AcceptedAt time.Time `json:"accepted_at"`
	ClosedAt   time.Time `json:"closed_at,omitzero"`
	// Status is running, completed, failed, cancelled, terminated or timed_out.
	Status string `json:"status"`
	// Outcome is pending while the update is open, and empty when somebody ended
	// its workflow from outside.
	Outcome contract.Outcome `json:"outcome"`
	Reason  contract.Reason  `json:"reason,omitempty"`
	// Turn is nil for an update that had no open one of its chat before it.
	Turn *Turn `json:"turn,omitempty"`
	// Handling is nil until the handler was asked.
	Handling *Handling `json:"handling,omitempty"`
	// Answer is the automatic answer to a callback query, nil for none.
	Answer *Call `json:"answer,omitempty"`
	// Calls are what the handler decided on, in its order.
	Calls []Call `json:"calls"`
	// DeadLetter is the id under which what died waits for a person, "" for none.
	DeadLetter string `json:"dead_letter,omitempty"`
	// WokeOthers counts the later updates that asked to be woken by this one.
	WokeOthers int `json:"woke_others,omitempty"`
}

// Turn is an update's wait for the chat's earlier one, or a message's for another.
type Turn struct {
	// After is the workflow ID of that one.
	After string `json:"after"`
	// Asked counts the questions whether it is done.
	Asked int `json:"asked"`
	// Woken is set when it signalled, instead of being found done.
	Woken bool `json:"woken,omitempty"`
	// Since and Until bound the wait; Until is zero while it lasts.
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"`
}

// Of tells the story of an update's workflow. The error says what the history
// is instead, or which part of it is not of durabot's making.
func Of(s Source) (Story, error) {
	first := start(s.Events)
	if first == nil {
		return Story{}, fmt.Errorf("history of %d events without a start", len(s.Events))
	}
	if name := first.GetWorkflowType().GetName(); name != contract.UpdateWorkflow {
		return Story{}, fmt.Errorf("%s is a %s, not an update", first.GetWorkflowId(), name)
	}
	var in contract.UpdateInput
	if err := decode(first.GetInput(), 0, &in); err != nil {
		return Story{}, fmt.Errorf("input of %s: %w", first.GetWorkflowId(), err)
	}
	t := newTelling(in, s)
	for _, e := range s.Events {
		t.hear(e)
	}
	t.pending(s.Pending)
	t.settle()
	return t.Story, nil
}

// Payload is the update as Telegram sent it, nil when the history does not
// start with one. It holds what a person wrote.
func Payload(s Source) []byte {
	payloads := start(s.Events).GetInput().GetPayloads()
	if len(payloads) < 2 {
		return nil
	}
	return payloads[1].GetData()
}

func start(events []*historypb.HistoryEvent) *historypb.WorkflowExecutionStartedEventAttributes {
	if len(events) == 0 {
		return nil
	}
	return events[0].GetWorkflowExecutionStartedEventAttributes()
}

func newTelling(in contract.UpdateInput, s Source) *telling {
	began := s.Events[0].GetEventTime().AsTime()
	t := &telling{in: in, Story: Story{
		UpdateID: strconv.FormatInt(in.UpdateID, 10), WorkflowID: start(s.Events).GetWorkflowId(), Kind: in.Kind,
		ChatID: id(in.ChatID), UserID: id(in.UserID), ReceivedAt: in.ReceivedAt, AcceptedAt: began,
		Status: "running", Outcome: contract.Pending, Calls: []Call{},
	}}
	if in.After != "" {
		t.Turn = &Turn{After: in.After, Since: began}
	}
	return t
}

// id is "" for none.
func id(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// statuses are the ends of a workflow.
var statuses = map[enumspb.EventType]string{
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:  "completed",
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:     "failed",
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:   "cancelled",
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: "terminated",
	enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:  "timed_out",
}

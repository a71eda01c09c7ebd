package story

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// Message is one message's way, as far as it has come.
type Message struct {
	// Call is what the message is about, all its parts together.
	Call
	// Status is running, completed, failed, cancelled, terminated or timed_out.
	Status string
	// DueAt is when it may leave, zero for at once.
	DueAt time.Time
	// After is the workflow ID of the message that has to end first, "" for none,
	// and AfterDelivered whether that one has to be delivered.
	After          string
	AfterDelivered bool
	// Turn is the wait for that message, nil for none.
	Turn *Turn
	// Parts are the calls that were made, or are being made: one unless it was cut.
	Parts []Call
	// Total is into how many parts it was cut, 0 for one that was not.
	Total int
}

// MessageOf tells the story of a message's workflow. The error says what the
// history is instead, or which part of it is not of durabot's making.
func MessageOf(s Source) (Message, error) {
	first := start(s.Events)
	if first == nil {
		return Message{}, fmt.Errorf("history of %d events without a start", len(s.Events))
	}
	if name := first.GetWorkflowType().GetName(); name != contract.MessageWorkflow {
		return Message{}, fmt.Errorf("%s is a %s, not a message", first.GetWorkflowId(), name)
	}
	var in contract.MessageInput
	if err := decode(first.GetInput(), 0, &in); err != nil {
		return Message{}, fmt.Errorf("input of %s: %w", first.GetWorkflowId(), err)
	}
	t := &posted{telling: newTelling(contract.UpdateInput{After: in.After}, s), Message: newMessage(in, s)}
	for _, e := range s.Events {
		t.hear(e)
	}
	t.pending(s.Pending)
	return t.tell(in), nil
}

// newMessage is what a message's start says of it.
func newMessage(in contract.MessageInput, s Source) Message {
	began, first := s.Events[0].GetEventTime().AsTime(), start(s.Events)
	m := Message{Status: "running", After: in.After, AfterDelivered: in.AfterDelivered, Call: Call{
		CallResult: contract.CallResult{
			Method: in.Call.Method, ChatID: in.Call.Address(), Outcome: contract.Pending,
			WorkflowID: first.GetWorkflowId(), Overtaken: in.Overtaken,
		},
		Key: in.Key, AcceptedAt: began, State: "accepted",
	}}
	if !in.AcceptedAt.IsZero() {
		m.AcceptedAt = in.AcceptedAt
	}
	leave := in.Call.At
	if in.NotBefore.After(leave) {
		leave = in.NotBefore
	}
	if leave.After(m.AcceptedAt) {
		m.DueAt = leave
	}
	if in.Ledger != nil {
		m.PossibleDuplicate, m.Degraded = in.Ledger.PossibleDuplicate, in.Ledger.Degraded
	}
	if delay := first.GetFirstWorkflowTaskBackoff().AsDuration(); delay > 0 && len(s.Events) == 1 {
		m.State, m.NextAttemptAt = "held", began.Add(delay)
	}
	return m
}

// MessagePayload is what a message says: the parameters of its call, nil when
// the history does not start with one.
func MessagePayload(s Source) []byte {
	var in contract.MessageInput
	if decode(start(s.Events).GetInput(), 0, &in) != nil {
		return nil
	}
	params, _ := in.Call.Params.(json.RawMessage)
	return params
}

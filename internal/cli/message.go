package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// message is what there is to tell of one message: how far its call has come,
// and whether it had been accepted before.
type message struct {
	story.Call

	duplicate bool
	runID     string
}

// newMessage is a message of which nothing is known but that Temporal has it.
func newMessage(taken starter.Accepted, call contract.Call) message {
	m := message{duplicate: taken.Duplicate, runID: taken.RunID, Call: story.Call{
		CallResult: contract.CallResult{Method: call.Method, Outcome: contract.Pending, WorkflowID: taken.WorkflowID},
		Key:        taken.Key, AcceptedAt: taken.At, State: "accepted",
	}}
	if params, err := call.Object(); err == nil {
		m.ChatID = contract.Address(params)
	}
	if call.At.After(taken.At) {
		m.State, m.NextAttemptAt = "held", call.At
	}
	return m
}

// messageJSON is what scripts rely on: every field is always there.
type messageJSON struct {
	Key               string           `json:"key"`
	WorkflowID        string           `json:"workflow_id"`
	Duplicate         bool             `json:"duplicate"`
	ChatID            string           `json:"chat_id"`
	Method            string           `json:"method"`
	Outcome           contract.Outcome `json:"outcome"`
	Reason            contract.Reason  `json:"reason"`
	MessageID         string           `json:"message_id"`
	PossibleDuplicate bool             `json:"possible_duplicate"`
	Degraded          bool             `json:"degraded"`
	Overtaken         bool             `json:"overtaken"`
	Attempts          int              `json:"attempts"`
	Error             string           `json:"error"`
	AcceptedAt        time.Time        `json:"accepted_at"`
	ClosedAt          *time.Time       `json:"closed_at"` // null while it is open
}

func (m message) json() messageJSON {
	j := messageJSON{
		Key: m.Key, WorkflowID: m.WorkflowID, Duplicate: m.duplicate, ChatID: m.ChatID, Method: m.Method, Outcome: m.Outcome,
		Reason: m.Reason, MessageID: m.MessageID, PossibleDuplicate: m.PossibleDuplicate, Degraded: m.Degraded,
		Overtaken: m.Overtaken, Attempts: m.Attempts, Error: m.Error, AcceptedAt: m.AcceptedAt,
	}
	if !m.ClosedAt.IsZero() {
		j.ClosedAt = &m.ClosedAt
	}
	return j
}

func (m message) write(w io.Writer) error {
	if m.duplicate {
		fmt.Fprintf(w, "duplicate of %s, nothing is sent again: ", stamp(m.AcceptedAt))
	}
	_, err := fmt.Fprintln(w, callText(m.Call))
	return err
}

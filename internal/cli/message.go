package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func (p Program) messageCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "message", Short: "Look at single messages, or take one back", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.messageListCommand(g), p.messageShowCommand(g), p.messageCancelCommand(g))
	return cmd
}

// messageID is a message's workflow ID. A key may have slashes, too.
var messageID = regexp.MustCompile(`^message/[0-9]+/.`)

// messageWorkflow is the workflow ID that a person means: by the message's key,
// or by the workflow ID itself.
func messageWorkflow(bot int64, arg string) string {
	if messageID.MatchString(arg) {
		return arg
	}
	return contract.MessageID(bot, arg)
}

// messageKey is the key inside a message's workflow ID.
func messageKey(workflowID string) string {
	if parts := strings.SplitN(workflowID, "/", 3); len(parts) == 3 {
		return parts[2]
	}
	return workflowID
}

// unknownMessage is the error of a key that Temporal does not know.
func (s *frontend) unknownMessage(id string) error {
	return fmt.Errorf("no message %s in namespace %s: see `durabot message list`; closed ones are kept for the namespace's retention", id, s.options.Namespace)
}

// message is what there is to tell of one message: how far it has come, and
// whether it had been accepted before.
type message struct {
	story.Message

	duplicate bool
}

// newMessage is a message of which nothing is known but that Temporal has it.
func newMessage(taken starter.Accepted, m starter.Message, bot int64) message {
	told := message{duplicate: taken.Duplicate, Message: story.Message{
		Status: "running", AfterDelivered: m.AfterDelivered, Call: story.Call{
			CallResult: contract.CallResult{
				Method: m.Call.Method, ChatID: m.Call.Address(), Outcome: contract.Pending, WorkflowID: taken.WorkflowID,
			},
			Key: taken.Key, AcceptedAt: taken.At, State: "accepted",
		},
	}}
	if m.After != "" {
		told.After = contract.MessageID(bot, m.After)
	}
	if m.Call.At.After(taken.At) {
		told.State, told.NextAttemptAt, told.DueAt = "held", m.Call.At, m.Call.At
	}
	return told
}

// follow is the message with what its workflow says of it.
func (m message) follow(s story.Source) message {
	told, err := story.MessageOf(s)
	if err != nil {
		return m
	}
	m.Message = told
	return m
}

func (m message) write(w io.Writer) error {
	if m.duplicate {
		fmt.Fprintf(w, "duplicate of %s, nothing is sent again: ", stamp(m.AcceptedAt))
	}
	_, err := fmt.Fprintln(w, callText(m.Call))
	return err
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
	MessageIDs        []string         `json:"message_ids"` // one for each part; empty until it is delivered
	PossibleDuplicate bool             `json:"possible_duplicate"`
	Degraded          bool             `json:"degraded"`
	Overtaken         bool             `json:"overtaken"`
	Attempts          int              `json:"attempts"`
	Error             string           `json:"error"`
	DeadLetter        string           `json:"dead_letter"`
	State             string           `json:"state"`           // where an open one stands
	NextAttemptAt     *time.Time       `json:"next_attempt_at"` // null unless it waits for a time
	DueAt             *time.Time       `json:"due_at"`          // null for at once
	After             string           `json:"after"`
	AfterDelivered    bool             `json:"after_delivered"`
	AcceptedAt        time.Time        `json:"accepted_at"`
	ClosedAt          *time.Time       `json:"closed_at"` // null while it is open
}

func (m message) json() messageJSON {
	j := messageJSON{
		Key: m.Key, WorkflowID: m.WorkflowID, Duplicate: m.duplicate, ChatID: m.ChatID, Method: m.Method, Outcome: m.Outcome,
		Reason: m.Reason, MessageID: m.MessageID, MessageIDs: append([]string{}, m.Messages()...), PossibleDuplicate: m.PossibleDuplicate, Degraded: m.Degraded,
		Overtaken: m.Overtaken, Attempts: m.Attempts, Error: m.Error, DeadLetter: m.DeadLetter, State: m.State,
		NextAttemptAt: when(m.NextAttemptAt), DueAt: when(m.DueAt), AfterDelivered: m.AfterDelivered,
		AcceptedAt: m.AcceptedAt, ClosedAt: when(m.ClosedAt),
	}
	if m.After != "" {
		j.After = messageKey(m.After)
	}
	return j
}

// when is a time for scripts, null for none.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/cli/story"
)

// shownMessage is the answer of `message show`.
type shownMessage struct {
	messageJSON
	// Status is that of its workflow.
	Status string `json:"status"`
	// Parts are the calls that were made, or are being made: one unless it was
	// cut, into Total.
	Parts []story.Call `json:"parts"`
	Total int          `json:"parts_total"`
	// Turn is the wait for the message before it, nil for none.
	Turn *story.Turn `json:"turn,omitempty"`
	// UI is the message's page in the Temporal UI, "" when nobody knows its address.
	UI string `json:"ui_url,omitempty"`
	// Payload are the parameters of its call, only when they were asked for.
	Payload json.RawMessage `json:"payload,omitempty"`

	told message
}

func (p Program) messageShowCommand(g *global) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use: "show KEY|WORKFLOW_ID", Short: "Tell one message's story: accepted, waited for, each attempt's end, delivered",
		Args: oneArg("a key or a workflow ID"),
	}
	f.register(cmd.Flags(), "show the parameters as well, with what is said")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.askMessage(cmd.Context(), g, args[0], func(s *frontend, id string) error {
			shown, err := s.message(cmd.Context(), id, f.payload)
			if err != nil {
				return err
			}
			shown.UI = s.page(f.ui, id)
			return p.answer(format, shown, shown.write)
		})
	}
	return cmd
}

// askMessage has a verb ask about the message that a person means.
func (p Program) askMessage(ctx context.Context, g *global, arg string, do func(s *frontend, id string) error) error {
	id := arg
	if !messageID.MatchString(arg) {
		bot, err := p.bot(g)
		if err != nil {
			return err
		}
		id = messageWorkflow(bot, arg)
	}
	return p.connected(ctx, func(s *frontend) error { return do(s, id) })
}

// message reads a message's history.
func (s *frontend) message(ctx context.Context, id string, payload bool) (shownMessage, error) {
	source, err := s.source(ctx, id)
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return shownMessage{}, s.unknownMessage(id)
	}
	if err != nil {
		return shownMessage{}, fmt.Errorf("read %s: %w", id, err)
	}
	m, err := story.MessageOf(source)
	if err != nil {
		return shownMessage{}, err
	}
	told := message{Message: m}
	shown := shownMessage{
		told: told, messageJSON: told.json(), Status: m.Status, Parts: append([]story.Call{}, m.Parts...), Total: max(m.Total, 1), Turn: m.Turn,
	}
	if payload {
		shown.Payload = story.MessagePayload(source)
	}
	return shown, nil
}

// write writes a timeline for people, in times since the message was accepted.
func (s shownMessage) write(w io.Writer) error {
	m := s.told
	fmt.Fprintf(w, "message %s  %s%s\n", m.Key, m.Method, to(m.ChatID))
	for _, d := range m.details() {
		fmt.Fprintf(w, "  %-8s  %s\n", d.name, d.text)
	}
	if s.UI != "" {
		fmt.Fprintf(w, "  %-8s  %s\n", "ui", s.UI)
	}
	fmt.Fprintln(w)
	for _, at := range m.moments() {
		fmt.Fprintf(w, "  %9s  %s\n", since(m.AcceptedAt, at.at), at.text)
	}
	if len(s.Payload) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Payload)
	}
	return nil
}

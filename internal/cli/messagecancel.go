package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// cancelWait is how long a message that is taken back may take to end: a request
// that has left is awaited.
const cancelWait = 30 * time.Second

func (p Program) messageCancelCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel KEY|WORKFLOW_ID", Short: "Take a message back that has not left yet; exit code 1 when it is too late",
		Args: oneArg("a key or a workflow ID"),
	}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return p.askMessage(cmd.Context(), g, args[0], func(s *frontend, id string) error {
			told, err := p.cancel(cmd.Context(), s, id)
			if told.WorkflowID == "" {
				return err
			}
			return errors.Join(err, p.answer(format, told.json(), told.write))
		})
	}
	return cmd
}

// cancel takes a message back and waits for its end. The error says that it was
// too late, or that nobody knows yet.
func (p Program) cancel(ctx context.Context, s *frontend, id string) (message, error) {
	source, err := s.source(ctx, id)
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return message{}, s.unknownMessage(id)
	}
	if err != nil {
		return message{}, fmt.Errorf("read %s: %w", id, err)
	}
	m, err := story.MessageOf(source)
	if err != nil {
		return message{}, err
	}
	told := message{Message: m}
	if !told.ClosedAt.IsZero() {
		return told, told.tooLate()
	}
	if err := s.withdraw(ctx, id); err != nil {
		return told, err
	}
	return p.cancelled(ctx, s, told)
}

// withdraw asks for a message to be cancelled. One that ends this moment needs no
// asking.
func (s *frontend) withdraw(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	err := s.CancelWorkflow(ctx, id, "")
	if _, ended := errors.AsType[*serviceerror.NotFound](err); err != nil && !ended {
		return fmt.Errorf("cancel %s: %w", id, err)
	}
	return nil
}

// cancelled waits for the end of a message that was asked to end.
func (p Program) cancelled(ctx context.Context, s *frontend, told message) (message, error) {
	wait, cancel := context.WithTimeout(ctx, cancelWait)
	defer cancel()
	for wait.Err() == nil {
		if err := p.awaitEnd(wait, s, told); err != nil {
			return told, fmt.Errorf("%s is asked to end, but nobody says how it ends: %w", told.WorkflowID, err)
		}
		var err error
		if told, err = s.read(ctx, told); err != nil {
			return told, err
		}
		if !told.ClosedAt.IsZero() {
			return told, told.tooLate()
		}
	}
	return told, fmt.Errorf("%s is asked to end and has not ended yet: its request has left, or no process runs the bot: see `durabot message show %s`",
		told.WorkflowID, told.Key)
}

// tooLate is the error of a message that ended otherwise before it could be taken
// back.
func (m message) tooLate() error {
	if m.Outcome == contract.Cancelled {
		return nil
	}
	return fmt.Errorf("%s: too late: %s", m.WorkflowID, callState(m.Call))
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func (p Program) sendCommand(g *global) *cobra.Command {
	f := newSendFlags()
	cmd := &cobra.Command{
		Use: "send", Short: "Send one message, or make one call; once for its key", Args: noArgs,
	}
	f.register(cmd.Flags())
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.given = cmd.Flags().Changed
		call, err := f.call(time.Now())
		if err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			told, err := p.send(cmd.Context(), s, bot, call, f.wait)
			if told.WorkflowID == "" {
				return err // it was not accepted
			}
			return errors.Join(err, p.answer(format, told.json(), told.write))
		})
	}
	return cmd
}

// send has a call accepted, and with wait follows it to its end. What it returns
// has a workflow ID once the call is accepted, whatever the error.
func (p Program) send(ctx context.Context, s *frontend, bot int64, call contract.Call, wait bool) (message, error) {
	missing, wrong, err := s.attributes(ctx)
	known := err == nil && len(missing)+len(wrong) == 0 // all works without them
	taken, err := s.accept(ctx, starter.NewMessages(s, bot, known), call)
	if err != nil {
		return message{}, err
	}
	told := newMessage(taken, call)
	if wait {
		return p.waited(ctx, s, told)
	}
	if taken.Duplicate {
		return s.read(ctx, told)
	}
	return told, nil
}

// accept starts the message. When nobody knows whether it is accepted, the error
// names the key under which it can be sent again without being sent twice.
func (s *frontend) accept(ctx context.Context, to *starter.Messages, call contract.Call) (starter.Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	taken, err := to.Send(ctx, call.Key, call)
	switch {
	case err == nil:
		return taken, nil
	case errors.Is(err, starter.ErrOtherContent):
		return taken, fmt.Errorf("--key %s: %w: nothing was sent; choose another key", taken.Key, starter.ErrOtherContent)
	case taken.Key != "":
		return taken, fmt.Errorf("%w: it may be accepted or not; send it again with --key %s", err, taken.Key)
	default:
		return taken, err
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/starter"
)

func (p Program) sendCommand(g *global) *cobra.Command {
	f := newSendFlags()
	cmd := &cobra.Command{
		Use: "send", Short: "Send one message, make one call, or all of a file; each once for its key", Args: noArgs,
	}
	f.register(cmd.Flags())
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.lines() {
			return p.sendFrom(cmd.Context(), g, f, format)
		}
		f.now = time.Now()
		m, err := f.message()
		if err != nil {
			return usage(err)
		}
		for _, path := range missingFiles(m.Call.Params) {
			p.warn("%s cannot be read here: it has to be there where the bot sends", path)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			told, err := p.send(cmd.Context(), s, bot, m, f.wait)
			if told.WorkflowID == "" {
				return err // it was not accepted
			}
			return errors.Join(err, p.answer(format, told.json(), told.write))
		})
	}
	return cmd
}

// send has a message accepted, and with wait follows it to its end. What it
// returns has a workflow ID once it is accepted, whatever the error.
func (p Program) send(ctx context.Context, s *frontend, bot int64, m starter.Message, wait bool) (message, error) {
	taken, err := s.accept(ctx, starter.NewMessages(s, bot, s.registered(ctx)), m)
	if err != nil {
		return message{}, err
	}
	told := newMessage(taken, m, bot)
	if wait {
		return p.waited(ctx, s, told)
	}
	if taken.Duplicate {
		return s.read(ctx, told)
	}
	return told, nil
}

// registered reports whether the namespace knows our search attributes. All works
// without them.
func (s *frontend) registered(ctx context.Context) bool {
	missing, wrong, err := s.attributes(ctx)
	return err == nil && len(missing)+len(wrong) == 0
}

// accept starts the message.
func (s *frontend) accept(ctx context.Context, to *starter.Messages, m starter.Message) (starter.Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	taken, err := to.Send(ctx, m)
	return taken, unaccepted(newSendFlags().mark, m, taken, err)
}

// unaccepted is why a message was not accepted, as one line that says what to do.
// When nobody knows, it names the key under which it can be sent again without
// being sent twice.
func unaccepted(mark func(field string) string, m starter.Message, taken starter.Accepted, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, starter.ErrOtherContent):
		return fmt.Errorf("%s %s: %w: nothing was sent; choose another key", mark("key"), taken.Key, starter.ErrOtherContent)
	case errors.Is(err, starter.ErrNoMessage):
		return fmt.Errorf("%s %s: %w: nothing was sent; send that one first, or leave %s out", mark("after"), m.After, starter.ErrNoMessage, mark("after"))
	case taken.Key != "":
		return fmt.Errorf("%w: it may be accepted or not; send it again with %s %s", err, mark("key"), taken.Key)
	default:
		return err
	}
}

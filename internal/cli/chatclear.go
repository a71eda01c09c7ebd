package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

// clockSkew is how far the clock of who made a mark may be ahead of ours.
const clockSkew = time.Minute

// clearedChat is the answer of `chat clear`.
type clearedChat struct {
	ChatID string `json:"chat_id"`
	// Cleared is whether there was anything to take back.
	Cleared bool `json:"cleared"`
}

func (p Program) chatClearCommand(g *global) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "clear CHAT_ID", Short: "Take back that a chat is unreachable or moved; penalties end at their time", Args: oneArg("a chat id"),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who come after")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chat, err := chatArg(args[0])
		if err != nil {
			return err
		}
		if err := checkReason(reason, true); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			cleared, err := s.clear(cmd.Context(), bot, chat, reason)
			if err != nil {
				return err
			}
			answer := clearedChat{ChatID: strconv.FormatInt(chat, 10), Cleared: cleared}
			return p.answer(format, answer, answer.write)
		})
	}
	return cmd
}

// clear takes a chat's marks back and reports whether it had any.
func (s *frontend) clear(ctx context.Context, bot, chat int64, reason string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	err := s.SignalWorkflow(ctx, contract.ChatID(bot, chat), "", contract.ChatClearSignal, contract.ChatClear{
		Before: time.Now().Add(clockSkew), All: true, Reason: reason, By: operator(),
	})
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("clear chat %d: %w", chat, err)
	}
	return true, nil
}

func (c clearedChat) write(w io.Writer) error {
	text := "cleared: calls to it are sent again; a penalty of Telegram's ends at its time"
	if !c.Cleared {
		text = "nothing exceptional, nothing to clear"
	}
	_, err := fmt.Fprintf(w, "chat %s: %s\n", c.ChatID, text)
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

// shownChat is the answer of `chat show`.
type shownChat struct {
	chatView
	// Share is what 429s have left of the chat's rate, null when it is whole.
	Share *float64 `json:"learned_share"`
}

func (p Program) chatShowCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "show CHAT_ID", Short: "Show what is exceptional about a chat", Args: oneArg("a chat id")}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chat, err := chatArg(args[0])
		if err != nil {
			return err
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			shown, err := s.chat(cmd.Context(), bot, chat)
			if err != nil {
				return err
			}
			return p.answer(format, shown, func(w io.Writer) error { return shown.write(w, time.Now()) })
		})
	}
	return cmd
}

// chat asks the chat's workflow and the process on duty.
func (s *frontend) chat(ctx context.Context, bot, chat int64) (shownChat, error) {
	state, err := s.marks(ctx, bot, chat)
	if err != nil {
		return shownChat{}, fmt.Errorf("look at chat %d: %w", chat, err)
	}
	h, err := s.holder(ctx, bot)
	if err != nil {
		return shownChat{}, err
	}
	shown := shownChat{chatView: newChatView(chat, state)}
	shown.limit(h)
	for _, r := range h.Beat.Figures.Limiter.Learned {
		if r.ChatID == shown.ChatID {
			shown.Share = &r.Share
		}
	}
	return shown, nil
}

// marks is what the chat's open workflow shows, nothing when there is none.
func (s *frontend) marks(ctx context.Context, bot, chat int64) (contract.ChatState, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	d, err := s.inspect(ctx, contract.ChatID(bot, chat))
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return contract.ChatState{}, nil
	}
	info := d.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return contract.ChatState{}, err
	}
	return chatState(info), err
}

func (c shownChat) write(w io.Writer, now time.Time) error {
	if c.ordinary() && c.Share == nil {
		_, err := fmt.Fprintf(w, "chat %s: nothing exceptional\n", c.ChatID)
		return err
	}
	fmt.Fprintf(w, "chat %s\n", c.ChatID)
	for _, f := range c.facts(now) {
		fmt.Fprintf(w, "  %-12s  %s", f.what, f.when)
		if f.why != "" {
			fmt.Fprintf(w, ": %s", oneLine(f.why))
		}
		fmt.Fprintln(w)
	}
	if c.Share != nil {
		fmt.Fprintf(w, "  %-12s  at %.0f %% of its rate after 429s\n", "learned", 100**c.Share)
	}
	return nil
}

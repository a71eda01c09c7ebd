package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
)

// erasedChat is the answer of `chat erase`.
type erasedChat struct {
	// Erased counts the workflows that were deleted, and Ended those of them that
	// were still open.
	Erased int `json:"erased"`
	Ended  int `json:"ended"`
	// Left counts what is still to be found.
	Left int64 `json:"left"`

	id int64
}

func (p Program) chatEraseCommand(g *global) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "erase CHAT_ID", Short: "Delete all that Temporal keeps of a chat, for good; what is open is ended", Args: oneArg("a chat id"),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask whether to go on")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		chat, err := chatArg(args[0])
		if err == nil && !yes && !p.attended() {
			err = usage(errUnasked)
		}
		if err != nil {
			return err
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			e := erasure{Program: p, frontend: s, query: ofChat(bot, chat), gone: map[string]bool{}, erasedChat: erasedChat{id: chat}}
			if err := e.agree(cmd.Context(), yes); err != nil {
				return err
			}
			failed := e.run(cmd.Context())
			if err := p.answer(format, e.erasedChat, e.write); err != nil {
				return err
			}
			return e.verdict(failed)
		})
	}
	return cmd
}

// ofChat is the query for all of a chat: its updates, messages and dead letters,
// and the workflow of its marks.
func ofChat(bot, chat int64) string {
	return fmt.Sprintf("TaskQueue = '%s' AND (%s = '%d' OR WorkflowId = '%s')",
		contract.TaskQueue(bot), contract.AttributeChat, chat, contract.ChatID(bot, chat))
}

// agree tells how much there is and asks whether it should go.
func (e *erasure) agree(ctx context.Context, yes bool) error {
	missing, _, err := e.attributes(ctx)
	if err != nil {
		return fmt.Errorf("look up search attributes: %w", err)
	}
	if slices.Contains(missing, contract.AttributeChat) {
		return fmt.Errorf("chat erase finds a chat by the search attribute %s, which is not registered: run `durabot setup`", contract.AttributeChat)
	}
	all, err := e.count(ctx, e.query)
	if err != nil {
		return fmt.Errorf("count what there is of chat %d: %w", e.id, err)
	}
	open, err := e.count(ctx, e.query+running)
	if err != nil {
		return fmt.Errorf("count what is open of chat %d: %w", e.id, err)
	}
	e.found = int(all)
	fmt.Fprintf(e.Stderr, "chat %d: %s, %d open\n", e.id, plural(e.found, "workflow"), open)
	if yes || all == 0 {
		return nil
	}
	ok, err := e.confirm("delete them for good, and end what is open?")
	if err == nil && !ok {
		err = errDeclined
	}
	return err
}

func (e *erasure) verdict(failed error) error {
	switch {
	case failed != nil:
		return fmt.Errorf("erase chat %d: %w: run it again", e.id, failed)
	case e.Left > 0:
		return fmt.Errorf("%d of chat %d are still to be found: run it again in a minute", e.Left, e.id)
	default:
		return nil
	}
}

// beyond is what erasing does not reach.
var beyond = []string{
	"what was started while the search attributes were missing: it goes after the namespace's retention",
	"updates of other chats that quote or forward what was said here, and lists of recipients",
	"what the process on duty remembers of the chat's budget: it goes within hours",
	"backups of Temporal's database",
	"what Telegram keeps",
}

func (c erasedChat) write(w io.Writer) error {
	text := fmt.Sprintf("chat %d: erased %s, ended %d of them; %d left", c.id, plural(c.Erased, "workflow"), c.Ended, c.Left)
	_, err := fmt.Fprintf(w, "%s\nnot reached:\n  - %s\n", text, strings.Join(beyond, "\n  - "))
	return err
}

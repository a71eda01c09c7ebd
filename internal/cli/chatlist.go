package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/durabot/durabot/internal/contract"
)

func (p Program) chatListCommand(g *global) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List chats that are unreachable, moved or rate limited for long", Args: noArgs}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			chats, err := s.chats(cmd.Context(), bot)
			if err != nil {
				return err
			}
			return p.answer(format, chats, func(w io.Writer) error { return writeChats(w, chats, time.Now()) })
		})
	}
	return cmd
}

// chats are those about which something is exceptional: each has an open workflow.
func (s *frontend) chats(ctx context.Context, bot int64) ([]chatView, error) {
	all := []chatView{}
	query := ofType(contract.ChatWorkflow, bot) + " AND ExecutionStatus = 'Running'"
	err := s.each(ctx, query, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if chat, ok := chatOfWorkflow(info); ok {
			if view := newChatView(chat, chatState(info)); !view.ordinary() {
				all = append(all, view)
			}
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list chats: %w", err)
	}
	return all, nil
}

// chatState is what a chat's workflow shows of itself.
func chatState(info *workflowpb.WorkflowExecutionInfo) contract.ChatState {
	var state contract.ChatState
	payload := info.GetMemo().GetFields()[contract.MemoState]
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &state) != nil {
		return contract.ChatState{}
	}
	return state
}

// chatOfWorkflow is the chat inside the workflow's ID.
func chatOfWorkflow(info *workflowpb.WorkflowExecutionInfo) (int64, bool) {
	id := info.GetExecution().GetWorkflowId()
	chat, err := strconv.ParseInt(id[strings.LastIndex(id, "/")+1:], 10, 64)
	return chat, err == nil
}

func writeChats(out io.Writer, chats []chatView, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHAT\tWHAT\tWHEN\tWHY")
	for _, c := range chats {
		for _, f := range c.facts(now) {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.ChatID, f.what, f.when, orDash(short(f.why, errorLength)))
		}
	}
	return w.Flush()
}

package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

func (p Program) messageListCommand(g *global) *cobra.Command {
	f := messageFilter{outcome: &choice{words: messageOutcomes()}}
	cmd := &cobra.Command{Use: "list", Short: "List single messages, the newest first", Args: noArgs}
	flags := cmd.Flags()
	flags.StringVar(&f.chat, "chat", "", "only messages to this chat id or @name")
	flags.Var(f.outcome, "outcome", "only messages that have ended so, or wait")
	flags.StringVar(&f.method, "method", "", "only calls of this Bot API method")
	flags.StringVar(&f.since, "since", "", "only messages accepted since this time, or so long ago, such as 24h")
	flags.IntVar(&f.limit, "limit", listLimit, "how many at most")
	format := output(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		now := time.Now()
		if err := f.validate(now); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			rows, err := s.listed(cmd.Context(), bot, f, now)
			if err != nil {
				return err
			}
			all := make([]messageJSON, len(rows))
			for i, r := range rows {
				all[i] = r.json()
			}
			return p.answer(format, all, func(w io.Writer) error { return writeMessages(w, rows) })
		})
	}
	return cmd
}

// listed are the newest messages that the filter lets through.
func (s *frontend) listed(ctx context.Context, bot int64, f messageFilter, now time.Time) ([]messageRow, error) {
	search, err := s.messages(ctx, bot, f, now)
	if err != nil {
		return nil, err
	}
	found, err := search.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	rows := make([]messageRow, len(found))
	for i, info := range found {
		rows[i] = newMessageRow(info)
	}
	return rows, atOnce(ctx, rows, s.complete)
}

// messageRow is one message in a list.
type messageRow struct {
	message

	runID string
}

// newMessageRow is what the list of executions says of a message.
func newMessageRow(info *workflowpb.WorkflowExecutionInfo) messageRow {
	id := info.GetExecution().GetWorkflowId()
	r := messageRow{runID: info.GetExecution().GetRunId(), message: message{Message: story.Message{
		Status: status(info.GetStatus()), Call: story.Call{
			CallResult: contract.CallResult{
				Method: keyword(info, contract.AttributeKind), ChatID: keyword(info, contract.AttributeChat), WorkflowID: id,
			},
			Key: messageKey(id), AcceptedAt: info.GetStartTime().AsTime(),
		},
	}}}
	if isOpen(info) {
		r.Outcome, r.State = contract.Pending, "accepted"
	} else {
		r.ClosedAt = info.GetCloseTime().AsTime()
	}
	return r
}

// complete adds what the message's history says.
func (s *frontend) complete(ctx context.Context, r *messageRow) error {
	var source story.Source
	var err error
	if r.Status == "running" {
		source, err = s.source(ctx, r.WorkflowID)
	} else {
		source, err = s.whole(ctx, r.WorkflowID, r.runID)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", r.WorkflowID, err)
	}
	r.message = r.follow(source)
	return nil
}

// whole reads the history of a closed workflow.
func (s *frontend) whole(ctx context.Context, id, run string) (story.Source, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	return s.events(ctx, id, run, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
}

func writeMessages(out io.Writer, rows []messageRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ACCEPTED\tKEY\tMETHOD\tCHAT\tOUTCOME\tDUE")
	for _, r := range rows {
		due := ""
		if r.State == "held" {
			due = stamp(r.NextAttemptAt)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", stamp(r.AcceptedAt), short(r.Key, keyLength), orDash(r.Method), orDash(r.ChatID), r.outcome(), orDash(due))
	}
	return w.Flush()
}

// keyLength is how much of a key fits into a table.
const keyLength = 60

// outcome is how the message ended, or where it stands, in a table.
func (m message) outcome() string {
	switch {
	case m.Outcome == contract.Pending && m.State == "held":
		return scheduled
	case m.Outcome == contract.Pending:
		return string(m.Outcome) + " (" + callState(m.Call) + ")"
	case m.PossibleDuplicate:
		return callState(m.Call) + ", POSSIBLE DUPLICATE"
	default:
		return callState(m.Call)
	}
}

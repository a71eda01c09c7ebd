package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// updateFilter says which updates are listed.
type updateFilter struct {
	chat, kind string
	status     *choice // "" is any
	limit      int
}

// updateRow is one update in a list.
type updateRow struct {
	UpdateID   string           `json:"update_id"`
	WorkflowID string           `json:"workflow_id"`
	Kind       string           `json:"kind"`
	ChatID     string           `json:"chat_id"`
	Status     string           `json:"status"`
	ReceivedAt time.Time        `json:"received_at"`
	ClosedAt   time.Time        `json:"closed_at,omitzero"`
	Outcome    contract.Outcome `json:"outcome"`
	Reason     contract.Reason  `json:"reason,omitempty"`
	// State is sending for an open one that has been handled, else empty.
	State string `json:"state,omitempty"`

	runID string
}

func (p Program) updateListCommand(g *global) *cobra.Command {
	f := updateFilter{status: &choice{words: []string{"running", "completed", "failed"}}}
	cmd := &cobra.Command{Use: "list", Short: "List updates, the newest first", Args: noArgs}
	flags := cmd.Flags()
	flags.StringVar(&f.chat, "chat", "", "only updates of this chat id")
	flags.StringVar(&f.kind, "kind", "", "only updates of this kind, such as message")
	flags.Var(f.status, "status", "only updates whose workflow is so")
	flags.IntVar(&f.limit, "limit", listLimit, "how many at most")
	format := output(flags)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := f.validate(); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			rows, err := s.updates(cmd.Context(), bot, f)
			if err != nil {
				return err
			}
			return p.answer(format, rows, func(w io.Writer) error { return writeUpdates(w, rows) })
		})
	}
	return cmd
}

// validate refuses what could not be a chat or a kind: both become a part of a query.
func (f updateFilter) validate() error {
	switch {
	case f.limit < 1 || f.limit > listMost:
		return fmt.Errorf("--limit: want 1 to %d, got %d", listMost, f.limit)
	case f.chat != "" && !chatID.MatchString(f.chat):
		return fmt.Errorf("--chat: want a chat id such as 42 or -1001234567890, got %q", f.chat)
	case f.kind != "" && !kindName.MatchString(f.kind):
		return fmt.Errorf("--kind: want a kind of update such as message or callback_query, got %q", f.kind)
	}
	return nil
}

// updates are the newest ones that the filter lets through.
func (s *frontend) updates(ctx context.Context, bot int64, f updateFilter) ([]updateRow, error) {
	search, err := s.search(ctx, bot, f)
	if err != nil {
		return nil, err
	}
	found, err := search.find(ctx)
	if err != nil {
		return nil, fmt.Errorf("list updates: %w", err)
	}
	rows := make([]updateRow, len(found))
	for i, info := range found {
		rows[i] = row(info)
	}
	return rows, s.outcomes(ctx, rows)
}

// outcomes fills in how the closed ones ended. The list of executions does not
// say: each one's last event does.
func (s *frontend) outcomes(ctx context.Context, rows []updateRow) error {
	return atOnce(ctx, rows, func(ctx context.Context, row *updateRow) error {
		if row.Status == "running" {
			return nil
		}
		source, err := s.ending(ctx, row.WorkflowID, row.runID)
		if err != nil {
			return fmt.Errorf("outcome of %s: %w", row.WorkflowID, err)
		}
		row.Outcome, row.Reason = source.Outcome()
		return nil
	})
}

// atOnce looks at rows side by side. A row whose retention ended this moment
// stays as it is.
func atOnce[R any](ctx context.Context, rows []R, look func(context.Context, *R) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(outcomesAtOnce)
	for i := range rows {
		group.Go(func() error {
			err := look(ctx, &rows[i])
			if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

func writeUpdates(out io.Writer, rows []updateRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "UPDATE_ID\tKIND\tCHAT\tSTATUS\tRECEIVED\tOUTCOME")
	for _, r := range rows {
		outcome := cmp.Or(r.State, string(r.Outcome))
		if r.Reason != "" {
			outcome += " (" + string(r.Reason) + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.UpdateID, orDash(r.Kind), orDash(r.ChatID), r.Status,
			stamp(r.ReceivedAt), orDash(outcome))
	}
	return w.Flush()
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// reportFlags say which recipients are told, and where to.
type reportFlags struct {
	only   []string
	out    string
	format *choice
}

// reportWords are what --only takes: what can become of a recipient, and those
// who may have got it twice.
func reportWords() []string {
	return append(recipientOutcomes(), string(contract.Delivered), string(contract.Superseded), string(contract.Dropped),
		string(contract.ReasonMovedTwice), string(contract.Pending), contract.OutcomeDuplicate)
}

func (p Program) broadcastReportCommand(g *global) *cobra.Command {
	f := reportFlags{format: &choice{value: "csv", words: []string{"csv", "json"}}}
	cmd := &cobra.Command{Use: "report NAME", Short: "Tell what became of each recipient", Args: oneBroadcast}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "only recipients with these outcomes, with commas")
	flags.StringVar(&f.out, "out", "", "file to write to, in place of standard output")
	flags.VarP(f.format, "output", "o", "what the rows are written as")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkOutcomes(f.only, reportWords()); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			status, err := s.broadcast(cmd.Context(), bot, args[0])
			if err != nil {
				return err
			}
			if f.out == "" {
				return p.report(cmd.Context(), s, bot, status, f, p.Stdout)
			}
			return p.reportTo(cmd.Context(), s, bot, status, f)
		})
	}
	return cmd
}

// checkOutcomes refuses what is none of the words.
func checkOutcomes(only, words []string) error {
	for _, word := range only {
		if !slices.Contains(words, word) {
			return fmt.Errorf("--only: want one of %s, got %q", strings.Join(words, ", "), word)
		}
	}
	return nil
}

// reportTo writes the rows to a file that only its owner reads.
func (p Program) reportTo(ctx context.Context, s *frontend, bot int64, status broadcast.Status, f reportFlags) error {
	file, err := os.OpenFile(f.out, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	err = errors.Join(p.report(ctx, s, bot, status, f, file), file.Close())
	if err != nil {
		return fmt.Errorf("--out: %s is not complete: %w", f.out, err)
	}
	return nil
}

// report writes the rows, and says on standard error how long they are kept and
// how many are still to come.
func (p Program) report(ctx context.Context, s *frontend, bot int64, status broadcast.Status, f reportFlags, w io.Writer) error {
	rows := newRowWriter(w, f.format.value)
	pending := 0
	complete, err := broadcast.Report(ctx, s, bot, status.Name, func(r broadcast.Row) error {
		if r.Outcome == string(contract.Pending) {
			pending++
		}
		if !wanted(f.only, r) {
			return nil
		}
		return rows.write(r)
	})
	if err != nil {
		return s.unread(status.Name, err)
	}
	if err := rows.close(); err != nil {
		return err
	}
	if pending > 0 {
		p.warn("%s of %s still pending", thousands(pending), amount(status.Total, "recipient"))
	}
	if !complete {
		p.warn("no process runs the bot's workflows: of the parts that have not ended only the recipients are known, as pending")
	}
	return p.tellLife(ctx, s, status)
}

// wanted reports whether a row is one of those asked for; none named means all.
func wanted(only []string, r broadcast.Row) bool {
	return len(only) == 0 || slices.Contains(only, r.Outcome) || r.PossibleDuplicate && slices.Contains(only, contract.OutcomeDuplicate)
}

// tellLife says until when the rows can be asked for: the namespace forgets a part
// so long after it has ended, and the first one ends first.
func (p Program) tellLife(ctx context.Context, s *frontend, status broadcast.Status) error {
	kept, err := s.retention(ctx)
	if err != nil {
		return s.why(err)
	}
	text := fmt.Sprintf("the rows are kept for %s after a part of the broadcast has ended", brief(kept))
	if first := cmp.Or(status.BeganAt, status.EndedAt); !first.IsZero() {
		text += ": all of them until " + stamp(first.Add(kept))
	}
	p.warn("%s", text)
	return nil
}

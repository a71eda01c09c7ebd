package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
)

func (p Program) statsCommand(g *global) *cobra.Command {
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "stats", Short: "Who is on duty, what waits, what died, and what Telegram forbids", Args: noArgs,
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again and again until it is interrupted")
	cmd.Flags().DurationVar(&every, "interval", watchEvery, "how often, with --watch")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if every < watchLeast {
			return usage(fmt.Errorf("--interval: want %v or more, got %v", watchLeast, every))
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			if watch {
				return p.watchStats(cmd.Context(), s, bot, format, every)
			}
			found, err := s.numbers(cmd.Context(), bot, s.countable(cmd.Context()))
			if err != nil {
				return err
			}
			return p.answer(format, found, func(w io.Writer) error { return writeStats(w, found, time.Now()) })
		})
	}
	return cmd
}

// watchStats shows the numbers again and again.
func (p Program) watchStats(ctx context.Context, s *frontend, bot int64, format *choice, every time.Duration) error {
	countable := s.countable(ctx)
	return p.watch(ctx, format, every, func() (picture, error) {
		found, err := s.numbers(ctx, bot, countable)
		return picture{answer: found, write: func(w io.Writer) error { return writeStats(w, found, time.Now()) }}, err
	})
}

// numbers asks for a bot's numbers.
func (s *frontend) numbers(ctx context.Context, bot int64, countable bool) (stats.Numbers, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	return stats.Ask(ctx, s, s.options.Namespace, bot, countable)
}

// countable reports whether queries may name how a workflow stands. Who may not
// look gets the numbers that do without.
func (s *frontend) countable(ctx context.Context) bool {
	missing, wrong, err := s.attributes(ctx)
	return err == nil && len(wrong) == 0 && !slices.Contains(missing, contract.AttributeOutcome)
}

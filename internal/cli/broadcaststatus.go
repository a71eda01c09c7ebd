package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

func (p Program) broadcastStatusCommand(g *global) *cobra.Command {
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{Use: "status NAME", Short: "How far a broadcast has come, and when it will end", Args: oneBroadcast}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again and again until it has ended")
	cmd.Flags().DurationVar(&every, "every", watchEvery, "how often, with --watch")
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if every < watchLeast {
			return usage(fmt.Errorf("--every: want %v or more, got %v", watchLeast, every))
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			status, err := s.broadcast(cmd.Context(), bot, args[0])
			switch {
			case err != nil:
				return err
			case watch:
				return p.watchBroadcast(cmd.Context(), s, bot, args[0], format, every)
			}
			return p.answer(format, status, func(w io.Writer) error { return writeBroadcast(w, status, time.Now()) })
		})
	}
	return cmd
}

// broadcast looks at a broadcast.
func (s *frontend) broadcast(ctx context.Context, bot int64, name string) (broadcast.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	status, err := broadcast.Look(ctx, s, bot, name)
	return status, s.unread(name, err)
}

// watchBroadcast shows a broadcast until it has ended.
func (p Program) watchBroadcast(ctx context.Context, s *frontend, bot int64, name string, format *choice, every time.Duration) error {
	return p.watch(ctx, format, every, func() (picture, error) {
		status, err := s.broadcast(ctx, bot, name)
		return picture{
			answer: status, last: isOver(status),
			write: func(w io.Writer) error { return writeBroadcast(w, status, time.Now()) },
		}, err
	})
}

// hasEnded reports whether no order changes a broadcast any more.
func hasEnded(phase contract.BroadcastPhase) bool {
	return phase == contract.BroadcastDone || phase == contract.BroadcastCancelled
}

// isOver reports whether each recipient of an ended broadcast has an outcome: of a
// cancelled one the requests that have left are awaited.
func isOver(b broadcast.Status) bool {
	return hasEnded(b.State) && (b.Pending == 0 || !b.EndedAt.IsZero())
}

// unread is why a broadcast could not be read, as one line that says what to do.
func (s *frontend) unread(name string, err error) error {
	switch {
	case errors.Is(err, broadcast.ErrNone):
		return fmt.Errorf("no broadcast %s in namespace %s: see `durabot broadcast list`; closed ones are kept for the namespace's retention",
			name, s.options.Namespace)
	case errors.Is(err, broadcast.ErrHalfStarted):
		return fmt.Errorf("broadcast %s is half started, and nothing of it is sent: give the same `durabot broadcast start` again, or cancel it", name)
	default:
		return err
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// retryFlags say who gets it once more, and as which broadcast.
type retryFlags struct {
	*broadcastFlags

	only []string
	as   string
}

// recipientOutcomes are those with which a recipient can be tried once more.
func recipientOutcomes() []string {
	return []string{
		string(contract.Unreachable), string(contract.ReasonRejected), string(contract.ReasonUncertain), string(contract.NotSent),
		string(contract.ReasonGaveUp), string(contract.Expired),
	}
}

func (p Program) broadcastRetryCommand(g *global) *cobra.Command {
	f := retryFlags{broadcastFlags: newBroadcastFlags()}
	cmd := &cobra.Command{
		Use: "retry NAME", Short: "Send a broadcast that has ended to those who did not get it, as a new one", Args: oneBroadcast,
		Long: "Send a broadcast that has ended to those who did not get it, as a new broadcast that names the old one. What is not\n" +
			"said is as it was in the old one. It asks before it starts; the same command again starts nothing twice.",
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "outcomes of those who get it, with commas: "+strings.Join(recipientOutcomes(), ", "))
	flags.StringVar(&f.as, "as", "", "name of the new broadcast (default: NAME-retry)")
	f.register(flags)
	format := output(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f.now = time.Now()
		if f.as == "" {
			f.as = args[0] + "-retry"
		}
		if err := f.check(p); err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			l := &launch{Program: p, frontend: s, flags: f.broadcastFlags, bot: bot}
			if err := l.again(cmd.Context(), args[0], f); err != nil {
				return err
			}
			return l.run(cmd.Context(), s, bot, format)
		})
	}
	return cmd
}

// check finds what is wrong without knowing the old broadcast.
func (f retryFlags) check(p Program) error {
	if err := starter.CheckBroadcastName(f.as); err != nil {
		return fmt.Errorf("--as: %w", err)
	}
	if len(f.only) == 0 {
		return fmt.Errorf("--only: say who gets it once more: %s", strings.Join(recipientOutcomes(), ", "))
	}
	if err := checkOutcomes(f.only, recipientOutcomes()); err != nil {
		return err
	}
	if err := f.validate(p, false); err != nil {
		return err
	}
	sample := contract.BroadcastCall{Call: contract.Call{Method: "sendMessage"}}
	_, err := f.broadcast(f.as, sample) // for its errors alone
	return err
}

// again makes of a launch the broadcast of an old one's recipients.
func (l *launch) again(ctx context.Context, name string, f retryFlags) error {
	status, err := l.frontend.broadcast(ctx, l.bot, name)
	if err != nil {
		return err
	}
	switch {
	case !hasEnded(status.State):
		return fmt.Errorf("broadcast %s is %s: wait until it has ended, or cancel it", name, status.State)
	case !isOver(status):
		return fmt.Errorf("broadcast %s is %s: try again in a minute", name, stateText(status))
	}
	what, all, err := broadcast.Recipients(ctx, l.frontend, l.bot, name)
	if err != nil {
		return l.unread(name, err)
	}
	if l.broadcast, err = f.broadcast(f.as, what); err != nil {
		return usage(err)
	}
	l.broadcast.Origin = name
	by := map[string]int{}
	if l.audience, err = l.left(ctx, name, f.only, all, by); err != nil {
		return err
	}
	if len(l.audience.Recipients) == 0 {
		return fmt.Errorf("broadcast %s: nobody in it is %s: nothing is started", name, strings.Join(f.only, " or "))
	}
	if err := l.seal(); err != nil {
		return usage(l.ofRecipient(err))
	}
	l.warnOfContent()
	return l.tellWho(ctx, by)
}

// left are the recipients of an old broadcast with these outcomes, in its order.
// Those whom it may have reached stay marked as such. By counts them by outcome.
func (l *launch) left(ctx context.Context, name string, only []string, all map[string]contract.Recipient, by map[string]int) (*starter.Audience, error) {
	a := &starter.Audience{}
	complete, err := broadcast.Report(ctx, l.frontend, l.bot, name, func(r broadcast.Row) error {
		to, known := all[r.Chat]
		if !known || !slices.Contains(only, r.Outcome) {
			return nil
		}
		to.Doubtful = to.Doubtful || r.Outcome == string(contract.ReasonUncertain) || r.PossibleDuplicate
		a.Recipients, a.Lines = append(a.Recipients, to), append(a.Lines, len(a.Lines)+1)
		by[r.Outcome]++
		return nil
	})
	if err == nil && !complete {
		err = errors.New("it has ended, and parts of it have not reported yet: try again in a minute")
	}
	if err != nil {
		return nil, fmt.Errorf("broadcast %s: %w", name, err)
	}
	return a, nil
}

// ofRecipient is a recipient's mistake with the recipient's chat.
func (l *launch) ofRecipient(err error) error {
	if wrong, ok := errors.AsType[*starter.RecipientError](err); ok && wrong.Index < len(l.audience.Recipients) {
		return fmt.Errorf("chat %s: %w", l.audience.Recipients[wrong.Index].Chat, wrong.Err)
	}
	return err
}

// tellWho says who gets it once more, and of which it is known that they will not.
func (l *launch) tellWho(ctx context.Context, by map[string]int) error {
	l.warn("of broadcast %s: %s", l.broadcast.Origin, counts(by))
	if n := by[string(contract.ReasonUncertain)]; n > 0 {
		l.warn("%s may have got it: what comes now may be a duplicate, and is flagged as one", amount(n, "recipient"))
	}
	if by[string(contract.Unreachable)] == 0 {
		return nil
	}
	closed, err := l.closedChats(ctx, l.bot)
	if err != nil {
		return err
	}
	n := 0
	for _, r := range l.audience.Recipients {
		if closed[r.Chat] {
			n++
		}
	}
	if n > 0 {
		l.warn("%s still marked as closed to the bot: it ends for them without a request unless they are cleared with `durabot chat clear`", plural(n, "chat"))
	}
	return nil
}

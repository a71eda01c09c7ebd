package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// orderAnswer is the answer of `broadcast pause`, `resume` and `cancel`.
type orderAnswer struct {
	Name string `json:"name"`
	// State is where the broadcast stands, "" for one that is half started.
	State contract.BroadcastPhase `json:"state"`
	// Changed is false for a broadcast that stood so already.
	Changed bool `json:"changed"`
	// InForce is false while no process has taken the order up.
	InForce bool `json:"in_force"`
}

func (p Program) broadcastPauseCommand(g *global) *cobra.Command {
	return p.ordering(g, contract.BroadcastPause, "Have a broadcast send nothing more until it is resumed")
}

func (p Program) broadcastResumeCommand(g *global) *cobra.Command {
	return p.ordering(g, contract.BroadcastResume, "Take a broadcast's pause back")
}

func (p Program) broadcastCancelCommand(g *global) *cobra.Command {
	return p.ordering(g, contract.BroadcastCancel, "End a broadcast: who has not got it does not get it")
}

// ordering makes one of the three.
func (p Program) ordering(g *global, what, about string) *cobra.Command {
	var reason string
	var yes bool
	cmd := &cobra.Command{Use: what + " NAME", Short: about, Args: oneBroadcast}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who come after")
	if what == contract.BroadcastCancel {
		cmd.Flags().BoolVar(&yes, "yes", false, "do not ask whether to go on")
	}
	format := output(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := checkReason(reason, what != contract.BroadcastResume)
		if asks := what == contract.BroadcastCancel && !yes; err == nil && asks && !p.attended() {
			err = errUnasked
		}
		if err != nil {
			return usage(err)
		}
		return p.ask(cmd.Context(), g, func(s *frontend, bot int64) error {
			o := ordered{
				Program: p, frontend: s, bot: bot, yes: yes, orderAnswer: orderAnswer{Name: args[0]},
				order: contract.BroadcastOrder{What: what, By: operator(), Reason: reason, At: time.Now()},
			}
			err := o.run(cmd.Context())
			if o.State == "" && !o.Changed {
				return err // it was not accepted
			}
			return errors.Join(err, p.answer(format, o.orderAnswer, o.write))
		})
	}
	return cmd
}

// ordered is an order on its way to a broadcast.
type ordered struct {
	Program
	*frontend
	orderAnswer

	bot   int64
	order contract.BroadcastOrder
	yes   bool
}

// run gives the order and waits until the broadcast shows it.
func (o *ordered) run(ctx context.Context) error {
	status, err := broadcast.Look(ctx, o.frontend, o.bot, o.Name)
	half := errors.Is(err, broadcast.ErrHalfStarted) && o.order.What == contract.BroadcastCancel
	if err != nil && !half {
		return o.unread(o.Name, err)
	}
	if err := o.tooLate(status.State); err != nil {
		return err
	}
	if o.stands(status.State) {
		o.State, o.InForce = status.State, true
		return nil
	}
	if err := o.agree(status, half); err != nil {
		return err
	}
	if err := o.give(ctx); err != nil {
		return err
	}
	o.Changed = true
	if half {
		o.InForce = true
		return nil
	}
	return o.await(ctx)
}

// stands reports whether a broadcast in this phase is as it is ordered to be.
func (o *ordered) stands(phase contract.BroadcastPhase) bool {
	switch o.order.What {
	case contract.BroadcastPause:
		return phase == contract.BroadcastPaused
	case contract.BroadcastResume:
		return phase == contract.BroadcastRunning || phase == contract.BroadcastScheduled
	default:
		return phase == contract.BroadcastCancelled
	}
}

// tooLate is the error of an order that an ended broadcast cannot follow.
func (o *ordered) tooLate(phase contract.BroadcastPhase) error {
	if !hasEnded(phase) || o.stands(phase) {
		return nil
	}
	return fmt.Errorf("broadcast %s: too late to %s: it is %s: see `durabot broadcast status %s`", o.Name, o.order.What, phase, o.Name)
}

// agree asks whether a broadcast should be cancelled.
func (o *ordered) agree(status broadcast.Status, half bool) error {
	if o.order.What != contract.BroadcastCancel {
		return nil
	}
	what := "it is half started, and nobody has got it"
	if !half {
		what = fmt.Sprintf("%s of %s without an outcome", thousands(status.Pending), amount(status.Total, "recipient"))
	}
	fmt.Fprintf(o.Stderr, "broadcast %s: %s\n", o.Name, what)
	if o.yes {
		return nil
	}
	ok, err := o.confirm("cancel?")
	if err == nil && !ok {
		err = errDeclined
	}
	return err
}

func (o *ordered) give(ctx context.Context) error {
	call, cancel := context.WithTimeout(ctx, 2*temporalCall)
	defer cancel()
	err := broadcast.Order(call, o.frontend, o.bot, o.Name, o.order)
	if !errors.Is(err, broadcast.ErrEnded) {
		return o.unread(o.Name, err)
	}
	return fmt.Errorf("broadcast %s: too late to %s: it has just ended: see `durabot broadcast status %s`", o.Name, o.order.What, o.Name)
}

// await returns when the broadcast shows the order. The error says that it does
// not yet.
func (o *ordered) await(ctx context.Context) error {
	for deadline := time.Now().Add(pauseWait); ; pause(ctx, pauseLook) {
		status, err := broadcast.Look(ctx, o.frontend, o.bot, o.Name)
		if err != nil {
			return fmt.Errorf("broadcast %s: the order is accepted, but nobody says what became of it: %w", o.Name, err)
		}
		o.State = status.State
		if o.InForce = o.stands(status.State) || slices.ContainsFunc(status.Actions, o.mine); o.InForce {
			return o.tooLate(status.State)
		}
		if hasEnded(status.State) {
			return o.tooLate(status.State)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("broadcast %s: accepted; no process runs the bot's workflows: it takes effect when one does", o.Name)
		}
	}
}

// mine reports whether an action is this order.
func (o *ordered) mine(a contract.BroadcastOrder) bool {
	return a.What == o.order.What && a.By == o.order.By && a.At.Equal(o.order.At)
}

func (o *ordered) write(w io.Writer) error {
	text := map[string]string{
		contract.BroadcastPause:  ": nothing more of it is sent; requests that have left are awaited",
		contract.BroadcastResume: " again",
		contract.BroadcastCancel: ": who has not got it does not get it; requests that have left are awaited",
	}[o.order.What]
	state := string(o.State)
	switch {
	case !o.InForce:
		return nil // the error says it all
	case !o.Changed:
		text = " already"
	case state == "":
		state, text = string(contract.BroadcastCancelled), ": nobody gets it"
	}
	_, err := fmt.Fprintf(w, "%s is %s%s\n", o.Name, state, text)
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// run has the broadcast accepted, or shows what that would mean.
func (l *launch) run(ctx context.Context, s *frontend, bot int64, format *choice) error {
	l.frontend, l.bot = s, bot
	if err := l.follow(ctx); err != nil {
		return err
	}
	if l.flags.test != "" {
		return l.try(ctx, format)
	}
	if err := l.prepare(ctx); err != nil {
		return err
	}
	if l.flags.dryRun {
		l.plan.DryRun = true
		return l.answer(format, l.plan, l.plan.write)
	}
	if err := l.agree(); err != nil {
		return err
	}
	if err := l.start(ctx); err != nil {
		return err
	}
	failed := l.await(ctx)
	return errors.Join(failed, l.answer(format, l.plan, l.plan.writeStart))
}

// follow takes the new ids of chats that moved.
func (l *launch) follow(ctx context.Context) error {
	moved, err := l.broadcasts(ctx).Moves(ctx)
	if err != nil {
		return err
	}
	l.audience.Follow(moved)
	return l.seal()
}

func (l *launch) broadcasts(ctx context.Context) *starter.Broadcasts {
	return starter.NewBroadcasts(l.frontend, l.bot, l.registered(ctx))
}

// prepare plans the broadcast, and refuses one whose results would be forgotten
// before it has ended.
func (l *launch) prepare(ctx context.Context) error {
	rates, err := l.pace(ctx, l.bot)
	if err != nil {
		return err
	}
	l.plan = newBroadcastPlan(l.broadcast, l.audience, rates, l.bot)
	l.plan.says = saysTo(l.broadcast)
	if err := l.look(ctx); err != nil || l.plan.Status != nil {
		return err
	}
	return l.outlived(ctx)
}

// look finds out what bears the name already, and what runs beside it.
func (l *launch) look(ctx context.Context) error {
	status, err := broadcast.Look(ctx, l.frontend, l.bot, l.plan.Name)
	switch {
	case err == nil:
		l.plan.Status = &status
		return nil
	case !errors.Is(err, broadcast.ErrNone) && !errors.Is(err, broadcast.ErrHalfStarted):
		return err
	}
	all, err := broadcast.List(ctx, l.frontend, l.bot)
	for _, one := range all {
		if one.State == contract.BroadcastRunning {
			l.plan.beside++
		}
	}
	return err
}

// outlived is the error of a broadcast that takes longer than results are kept.
func (l *launch) outlived(ctx context.Context) error {
	kept, err := l.retention(ctx)
	if err != nil {
		return l.why(err)
	}
	if takes := l.plan.now.takes; takes != nil && *takes > kept {
		return fmt.Errorf("it takes about %s, and namespace %s keeps results for %s: send it faster, to fewer chats at a time, or raise the namespace's retention",
			brief(*takes), l.options.Namespace, brief(kept))
	}
	return nil
}

// agree shows the plan and asks. What bears a name that is taken starts nothing,
// so nobody is asked.
func (l *launch) agree() error {
	if l.plan.Status != nil {
		return nil
	}
	if err := l.plan.write(l.Stderr); err != nil || l.flags.yes {
		return err
	}
	yes, err := l.confirm("start?")
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// start has Temporal accept the broadcast.
func (l *launch) start(ctx context.Context) error {
	bar := l.progress("accepting", len(l.broadcast.Recipients))
	started, err := l.broadcasts(ctx).Start(ctx, l.broadcast, func(recipients int) {
		_ = bar.Add(recipients) // a picture for people
	})
	_ = bar.Exit() // as above
	switch {
	case errors.Is(err, starter.ErrOtherBroadcast):
		return fmt.Errorf("broadcast %s: %w: nothing was started", l.plan.Name, starter.ErrOtherBroadcast)
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("broadcast %s: interrupted, and nothing of it is sent: the same command goes on", l.plan.Name)
	case err != nil:
		return fmt.Errorf("broadcast %s: %w: given again, the command starts nothing twice", l.plan.Name, err)
	}
	l.plan.WorkflowID, l.plan.Parts, l.plan.Duplicate = started.WorkflowID, started.Parts, started.Duplicate
	if !started.Duplicate {
		l.plan.Status = nil
	}
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// deadVerb is something that people do to dead letters.
type deadVerb struct {
	name  string // "replay"
	doing string // how a summary says it: "replaying"
	// update is the workflow's, and args what it is asked with: the dead letter of
	// the same chat that has to end first is "" for none.
	update string
	args   func(after string) any
	// skip is why a filter leaves a letter alone, "" when it does not.
	skip func(d deadLetter, closed map[string]bool) string
	// ordered verbs go through a chat one after the other.
	ordered bool
}

// errDeclined is for a person who was asked and did not say yes.
var errDeclined = errors.New("nothing was done")

// actOn has a verb done to the targets and reports what became of it.
func (p Program) actOn(ctx context.Context, g *global, t *deadTargets, v deadVerb, report func(*deadRun) error) error {
	if err := t.validate(p); err != nil {
		return usage(err)
	}
	ids, err := t.workflows(p, g)
	if err != nil {
		return err
	}
	return p.connected(ctx, func(s *frontend) error {
		run := newDeadRun(p, s, v, t)
		if err := run.choose(ctx, g, ids); err != nil {
			return err
		}
		if err := run.agree(); err != nil {
			return err
		}
		run.all(ctx)
		return report(run)
	})
}

// choose finds what is meant and leaves alone what a filter should not touch.
func (r *deadRun) choose(ctx context.Context, g *global, ids []string) error {
	if r.targets.named() {
		found, err := r.letters(ctx, ids)
		r.chosen = found
		return err
	}
	bot, err := r.bot(g)
	if err != nil {
		return err
	}
	found, err := r.dead(ctx, bot, &r.targets.filter, false)
	if err != nil {
		return err
	}
	closed, err := r.closedChats(ctx, bot)
	if err != nil {
		return err
	}
	r.sift(found, closed)
	return nil
}

// sift keeps what the verb may be done to. One that is being replayed keeps its
// place: those of its chat that were accepted later follow it.
func (r *deadRun) sift(found []deadLetter, closed map[string]bool) {
	underWay := map[string]string{}
	for _, d := range found {
		why := r.verb.skip(d, closed)
		if why == "" {
			r.chosen = append(r.chosen, d)
			r.behind[d.workflowID] = underWay[d.ChatID]
			continue
		}
		r.skipped[why]++
		if why == skipReplaying && d.ChatID != "" {
			underWay[d.ChatID] = d.workflowID
		}
	}
	r.chosen = r.targets.filter.first(r.chosen)
}

// closedChats are the chats that are known to be closed to the bot.
func (s *frontend) closedChats(ctx context.Context, bot int64) (map[string]bool, error) {
	chats, err := s.chats(ctx, bot)
	closed := map[string]bool{}
	for _, c := range chats {
		closed[c.ChatID] = c.Closed != nil
	}
	return closed, err
}

// agree tells what will be done and asks whether it should. What was named by its
// id needs no agreement.
func (r *deadRun) agree() error {
	if r.targets.named() {
		return nil
	}
	by := map[string]int{}
	for _, d := range r.chosen {
		by[string(d.Reason)]++
	}
	what := plural(len(r.chosen), "dead letter")
	fmt.Fprintln(r.Stderr, what+behind(": ", counts(by))+behind("; skipped: ", r.skipped.String()))
	if len(r.chosen) == 0 || r.targets.yes {
		return nil
	}
	yes, err := r.confirm(r.verb.name + " " + what + "?")
	if err == nil && !yes {
		err = errDeclined
	}
	return err
}

// skipReplay is why a filter does not replay a letter. A duplicate, and new time,
// have to be asked for; what is closed fails again.
func skipReplay(d deadLetter, closed map[string]bool, duplicates, newTime bool, now time.Time) string {
	switch {
	case d.Replaying:
		return skipReplaying
	case d.Reason == contract.ReasonTooLarge:
		return skipTooLarge
	case d.Reason == contract.ReasonUncertain && !duplicates:
		return skipUncertain
	case !d.Deadline.IsZero() && now.After(d.Deadline) && !newTime:
		return skipTooLate
	case closed[d.ChatID]:
		return skipClosedChat
	default:
		return ""
	}
}

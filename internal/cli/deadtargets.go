package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"
)

// deadTargets says which dead letters something is done to: those that are named,
// or those that a filter finds. Only the latter have to be agreed to.
type deadTargets struct {
	filter     deadFilter
	every, yes bool
	ids        []string
}

func (t *deadTargets) flags(flags *pflag.FlagSet) {
	t.filter.flags(flags, 0)
	flags.BoolVar(&t.every, "every", false, "all of the bot's, where no filter is given")
	flags.BoolVar(&t.yes, "yes", false, "do not ask whether to go on")
}

// validate wants either ids or a filter, so that nothing is done to all by a slip.
func (t *deadTargets) validate(p Program) error {
	filtered := !t.filter.empty() || t.every
	switch {
	case len(t.ids) > 0 && filtered:
		return errors.New("give ids or a filter, not both")
	case len(t.ids) == 0 && !filtered:
		return errors.New("say which: ids as `durabot dead list` shows them, a filter such as --died-of rejected, or --every")
	case t.every && !t.filter.empty():
		return errors.New("--every: leave it out beside a filter")
	case filtered && !t.yes && !p.attended():
		return errUnasked
	}
	return t.filter.validate()
}

// named reports whether each was named by its id.
func (t *deadTargets) named() bool { return len(t.ids) > 0 }

// workflows are the workflow IDs of those that were named, each once.
func (t *deadTargets) workflows(p Program, g *global) ([]string, error) {
	var all []string
	seen := map[string]bool{}
	for _, arg := range t.ids {
		id, err := p.deadWorkflow(g, arg)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			all = append(all, id)
		}
	}
	return all, nil
}

// letters looks at several dead letters at once, in the order in which they were
// asked for.
func (s *frontend) letters(ctx context.Context, ids []string) ([]deadLetter, error) {
	found := make([]deadLetter, len(ids))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(outcomesAtOnce)
	for i, id := range ids {
		group.Go(func() (err error) {
			found[i], err = s.letter(ctx, id)
			return err
		})
	}
	return found, group.Wait()
}

// skips counts what a filter found and leaves alone, by why.
type skips map[string]int

// Why a filter leaves a dead letter alone; one that is named by its id is tried.
const (
	skipClosedChat = "closed_chat" // the chat is closed to the bot
	skipTooLate    = "too_late"
	skipUncertain  = "uncertain" // it may have arrived
	skipTooLarge   = "too_large" // too little was kept
	skipReplaying  = "replaying" // somebody is at it
	skipEnded      = "ended"     // somebody was faster
)

var skipWords = []struct{ why, one, more string }{
	{skipClosedChat, "closed chat", "closed chats"},
	{skipTooLate, "too late", "too late"},
	{skipUncertain, "may have arrived", "may have arrived"},
	{skipTooLarge, "too large", "too large"},
	{skipReplaying, "being replayed", "being replayed"},
	{skipEnded, "already ended", "already ended"},
}

// String is what a person is told, "" for nothing.
func (s skips) String() string {
	var parts []string
	for _, w := range skipWords {
		switch n := s[w.why]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+w.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, w.more))
		}
	}
	return strings.Join(parts, ", ")
}

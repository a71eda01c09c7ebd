package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// deadReasons are what something can die of.
var deadReasons = []string{
	string(contract.ReasonRejected), string(contract.ReasonUncertain), string(contract.ReasonGaveUp), string(contract.ReasonHandlerFailed),
	string(contract.ReasonUndecodable), string(contract.ReasonTooLarge), string(contract.ReasonMovedTwice),
}

// deadFilter says which dead letters are meant.
type deadFilter struct {
	reasons              []string
	kind                 *choice // "" is any
	chat, method         string
	olderThan, newerThan time.Duration
	limit                int // 0 is all
}

// flags adds the filter's flags. A limit alone filters nothing.
func (f *deadFilter) flags(flags *pflag.FlagSet, limit int) {
	f.kind = &choice{words: []string{contract.DeadMessage, contract.DeadUpdate}}
	flags.StringSliceVar(&f.reasons, "died-of", nil, "only what died of this: "+strings.Join(deadReasons, ", ")+"; may be given again")
	flags.Var(f.kind, "kind", "only dead letters of this kind")
	flags.StringVar(&f.chat, "chat", "", "only those for this chat id or @name")
	flags.StringVar(&f.method, "method", "", "only calls of this method, or updates of this kind that came to no call")
	flags.DurationVar(&f.olderThan, "older-than", 0, "only what died longer ago than this")
	flags.DurationVar(&f.newerThan, "newer-than", 0, "only what died within this time")
	flags.IntVar(&f.limit, "limit", limit, "how many at most, the oldest first; 0 for all")
}

func (f *deadFilter) empty() bool {
	return len(f.reasons) == 0 && f.kind.value == "" && f.chat == "" && f.method == "" && f.olderThan == 0 && f.newerThan == 0
}

// validate refuses what would find nothing for a slip of the pen.
func (f *deadFilter) validate() error {
	for _, reason := range f.reasons {
		if !slices.Contains(deadReasons, reason) {
			return fmt.Errorf("--died-of: want one of %s, got %q", strings.Join(deadReasons, ", "), reason)
		}
	}
	switch {
	case f.chat != "" && !chatID.MatchString(f.chat) && !chatName.MatchString(f.chat):
		return fmt.Errorf("--chat: want a chat id such as 42 or -1001234567890, or @name, got %q", f.chat)
	case f.olderThan < 0 || f.newerThan < 0:
		return fmt.Errorf("--older-than, --newer-than: want a duration such as 24h, got %v", min(f.olderThan, f.newerThan))
	case f.limit < 0:
		return fmt.Errorf("--limit: want 0 (all) or more, got %d", f.limit)
	}
	return nil
}

func (f *deadFilter) fits(d deadLetter, now time.Time) bool {
	switch {
	case len(f.reasons) > 0 && !slices.Contains(f.reasons, string(d.Reason)),
		f.kind.value != "" && d.Kind != f.kind.value,
		f.chat != "" && d.ChatID != f.chat,
		f.method != "" && !strings.EqualFold(d.Method, f.method),
		f.olderThan > 0 && now.Sub(d.At) < f.olderThan,
		f.newerThan > 0 && now.Sub(d.At) > f.newerThan:
		return false
	}
	return true
}

// dead finds the bot's dead letters, the one that was accepted first in front:
// the open ones, or with closed all that the namespace still keeps. What a letter
// shows of itself comes with the list, so no history is read, and a filter works
// without search attributes.
func (s *frontend) dead(ctx context.Context, bot int64, f *deadFilter, closed bool) ([]deadLetter, error) {
	query := ofType(contract.DeadLetterWorkflow, bot)
	if !closed {
		query += " AND ExecutionStatus = 'Running'"
	}
	found, now := []deadLetter{}, time.Now()
	err := s.each(ctx, query, func(info *workflowpb.WorkflowExecutionInfo) bool {
		if d := newDeadLetter(info); f.fits(d, now) {
			found = append(found, d)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	slices.SortStableFunc(found, inOrder)
	return found, nil
}

// inOrder is the order of what was accepted. Two of one moment keep that of their
// ids, so that every run finds the same.
func inOrder(a, b deadLetter) int {
	return cmp.Or(a.AcceptedAt.Compare(b.AcceptedAt), cmp.Compare(a.workflowID, b.workflowID))
}

package workflows

import (
	"cmp"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// owed is one call that is to be made yet.
type owed struct {
	call   contract.Call
	ledger *contract.Ledger
	// uncertain is set when it may have arrived.
	uncertain bool
}

// rest is what stays of a call that did not arrive as a whole. What was known of
// it before still holds for the part that it was known of.
func rest(o owed, w *whole, res contract.CallResult) []owed {
	var all []owed
	for _, call := range w.left {
		all = append(all, owed{call: call})
	}
	first := &all[0]
	first.ledger, first.uncertain = w.ledger(), res.Reason == contract.ReasonUncertain
	if arrived(res) == 0 {
		first.uncertain = first.uncertain || o.uncertain
		first.ledger = merged(o.ledger, first.ledger)
	}
	return all
}

// merged is what two ledgers of one call say together.
func merged(before, after *contract.Ledger) *contract.Ledger {
	if before == nil || after == nil {
		return cmp.Or(before, after)
	}
	return &contract.Ledger{
		PossibleDuplicate: before.PossibleDuplicate || after.PossibleDuplicate,
		Degraded:          before.Degraded || after.Degraded,
		MovedTo:           cmp.Or(after.MovedTo, before.MovedTo),
	}
}

// deadline is when a call of a replay expires: it gets the time that the person
// gave it, or has what it had.
func (l *letter) deadline(ctx workflow.Context, call contract.Call, ttl time.Duration) time.Time {
	switch {
	case ttl > 0:
		return workflow.Now(ctx).Add(ttl)
	case !l.state.Deadline.IsZero():
		return l.state.Deadline
	default:
		return deadline(ctx, call)
	}
}

// over reports whether nothing is left to do of a call.
func over(c contract.CallResult) bool {
	switch c.Outcome {
	case contract.Delivered, contract.Superseded, contract.Dropped, contract.Pending:
		return true
	default:
		return false
	}
}

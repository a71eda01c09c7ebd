package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// overtakeAfter is how long a call may be delayed for a reason of its own while
// the later updates of its chat wait for it.
const overtakeAfter = time.Minute

// delay is what stands between an attempt and the next.
type delay struct {
	kind string // the failure's type
	wait time.Duration
	why  string
	// own says that the reason lies in the call, or in its method, and not in its
	// chat or in the bot: the rest of the chat need not wait for it.
	own bool
	// note changes the ledger, nil for not at all.
	note func(*contract.Ledger)
}

// again asks Temporal for another attempt, unless the call is cancelled, or that
// would come too late to be of use, after the call's deadline, or so late that the
// chat need not wait.
func (t *try) again(ctx context.Context, d delay) error {
	t.remember(d.enter)
	next := time.Now().Add(d.wait)
	switch {
	case cancelled(ctx):
		return t.cancel()
	case t.method.Transient:
		return t.final(contract.FailureDropped, d.why)
	case d.wait > t.left():
		return t.final(contract.FailureExpired, d.why)
	case d.own && t.in.HoldsTurn && next.Sub(t.entries().FailingSince) > overtakeAfter:
		return t.overtake(next, d.why)
	}
	return t.retry(ctx, d)
}

// enter puts the delay into the ledger.
func (d delay) enter(l *contract.Ledger) {
	if d.note != nil {
		d.note(l)
	}
	if d.own && l.FailingSince.IsZero() {
		l.FailingSince = time.Now()
	}
}

// retry writes this attempt's number first, so that the next one can tell it
// from an attempt that vanished. A ledger that cannot be written is no reason to
// say nothing: the next attempt then takes this one for vanished, which errs on
// the safe side.
func (t *try) retry(ctx context.Context, d delay) error {
	_ = t.write(ctx, func(l *contract.Ledger) {
		l.Attempt, l.InFlight, l.Error = t.info.Attempt, false, d.why
	})
	if cancelled(ctx) { // the answer to the write said so
		return t.cancel()
	}
	return t.retryable(d.kind, d.wait, d.why)
}

func (t *try) retryable(kind string, wait time.Duration, why string) error {
	return temporal.NewApplicationErrorWithOptions(why, kind, temporal.ApplicationErrorOptions{
		NextRetryDelay: max(wait, time.Millisecond), // 0 would mean "not set"
		Category:       temporal.ApplicationErrorCategoryBenign,
		Details:        []any{t.result()},
	})
}

// final ends the call.
func (t *try) final(kind, why string) error {
	t.remember(func(l *contract.Ledger) { l.Error = why })
	return temporal.NewApplicationErrorWithOptions(why, kind, temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Category:     temporal.ApplicationErrorCategoryBenign,
		Details:      []any{t.result()},
	})
}

// overtake hands the call back to its update, which lets it go on by itself. The
// mark of a request under way ends with this attempt, whose end is known.
func (t *try) overtake(next time.Time, why string) error {
	since := t.since()
	t.remember(func(l *contract.Ledger) { l.InFlight, l.Error, l.Since = false, why, since })
	return temporal.NewApplicationErrorWithOptions(why, contract.FailureOvertaken, temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Category:     temporal.ApplicationErrorCategoryBenign,
		Details:      []any{t.result(), t.entries(), next, t.in.Deadline},
	})
}

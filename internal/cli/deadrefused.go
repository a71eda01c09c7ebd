package cli

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// refusal is why a dead letter would not have it, in the contract's word and in
// one line that says what to do.
func (r *deadRun) refusal(ctx context.Context, d deadLetter, err error) (kind, why string) {
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return contract.RefusedClosed, r.endText(ctx, d)
	}
	refused, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok {
		return "", oneLine(err.Error())
	}
	switch refused.Type() {
	case contract.RefusedClosed:
		why = r.endText(ctx, d)
	case contract.RefusedReplaying:
		why = oneLine(refused.Message()) + ": see `durabot dead show " + d.id() + "`"
	case contract.RefusedUncertain:
		why = "it may have arrived: --allow-duplicate sends it all the same"
	case contract.RefusedExpired:
		why = "it is too late for it" + lateSince(d) + ": --ttl 1h gives it an hour from now"
	case contract.RefusedEmpty:
		why = "too little was kept to try again: discard it"
	case contract.RefusedEdit:
		why = "--edit: " + oneLine(refused.Message())
	default:
		why = oneLine(refused.Message())
	}
	return refused.Type(), why
}

func lateSince(d deadLetter) string {
	if d.Deadline.IsZero() {
		return ""
	}
	return " since " + stamp(d.Deadline)
}

// endText is how a letter that is no longer open came to that, and by whom.
func (r *deadRun) endText(ctx context.Context, d deadLetter) string {
	now, err := r.letter(ctx, d.workflowID)
	if err != nil {
		return oneLine(err.Error())
	}
	if n := len(now.Actions); n > 0 && now.State != contract.DeadExpired {
		last := now.Actions[n-1]
		return fmt.Sprintf("already %s by %s at %s%s", now.State, last.By, stamp(last.At), behind(": ", oneLine(last.Reason)))
	}
	return fmt.Sprintf("already %s", now.State)
}

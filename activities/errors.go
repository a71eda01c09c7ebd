package activities

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// overtakeAfter is how long a call may fail for a reason of its own while the
// later updates of its chat wait for it.
const overtakeAfter = time.Minute

// unauthorizedWait is the pause after Telegram refused the token: it answers
// from memory for up to half an hour (tdlib/telegram-bot-api, finish_closing),
// so asking often is useless.
const unauthorizedWait = time.Minute

// judge is the one door through which an error leaves Send. It writes what must
// be remembered and returns the error that tells Temporal what to do: nil for
// delivered, and always an *temporal.ApplicationError, unwrapped, because the
// SDK takes a wrapped one for a retryable error of its own.
func (t *try) judge(ctx context.Context, err error) error {
	var paced retryIn
	var kept unsent
	switch {
	case errors.As(err, &paced):
		return t.again(ctx, contract.FailurePaced, paced.RetryIn(), "waiting for the chat's window", nil)
	case errors.As(err, &kept):
		return t.again(ctx, kept.kind, backoff(1, jitter()), kept.why, nil)
	}
	return t.judgeAnswer(ctx, err)
}

// judgeAnswer holds the rows of the table in docs/architecture.md, "Outcomes of
// a call".
func (t *try) judgeAnswer(ctx context.Context, err error) error {
	switch telegram.Classify(err, t.in.Call.Method) {
	case telegram.Delivered:
		t.authorized(true)
		return nil
	case telegram.RateLimited:
		return t.rateLimited(ctx, err)
	case telegram.Unavailable:
		return t.failed(ctx, err, false)
	case telegram.Unknown:
		if t.in.Call.Delivery == contract.AtMostOnce || inPart(err) {
			return t.final(contract.FailureUncertain, t.told(err))
		}
		return t.failed(ctx, err, true)
	case telegram.Unreachable:
		return t.final(contract.FailureUnreachable, t.told(err))
	case telegram.Moved:
		return t.final(contract.FailureMoved, t.told(err))
	case telegram.Expired:
		return t.final(contract.FailureExpired, t.told(err))
	case telegram.Unauthorized:
		return t.unauthorized(ctx, err)
	case telegram.NotFound:
		return t.notFound(ctx, err)
	default:
		return t.final(contract.FailureRejected, t.told(err))
	}
}

// inPart reports whether Telegram answered, and said that a part of an album or
// a batch was sent: that part would be doubled by any repetition.
func inPart(err error) bool {
	var te *telegram.Error
	return errors.As(err, &te) && te.Code == http.StatusBadRequest
}

// told is the text of an error that may be kept.
func (t *try) told(err error) string { return quiet(err, t.params) }

// rateLimited keeps everybody off the scope of a 429 and comes back when
// Telegram said. The answer cannot tell the scope: a call with a chat blames the
// chat, one without blames the method.
func (t *try) rateLimited(ctx context.Context, err error) error {
	var te *telegram.Error
	errors.As(err, &te)
	floods := 0
	if te.RetryAfter <= 0 {
		floods = t.entries().Floods + 1
	}
	wait := floodWait(te.RetryAfter, floods, jitter())
	method := ""
	if t.chat == 0 {
		method = t.method.Name
	}
	t.Budget.Penalize(t.chat, method, time.Now().Add(wait))
	if wait > t.left() {
		return t.final(contract.FailureExpired, t.told(err))
	}
	return t.again(ctx, contract.FailureRateLimited, wait, t.told(err), func(l *contract.Ledger) {
		l.Floods = floods
	})
}

// failed counts a failure. Duplicate marks one after which Telegram may have
// taken the call.
func (t *try) failed(ctx context.Context, err error, duplicate bool) error {
	now := time.Now()
	failures := t.entries().Failures + 1
	note := func(l *contract.Ledger) {
		l.Failures, l.Floods = failures, 0
		l.PossibleDuplicate = l.PossibleDuplicate || duplicate
		if l.FailingSince.IsZero() {
			l.FailingSince = now
		}
	}
	wait := backoff(failures, jitter())
	switch {
	case failures >= MaxFailures:
		t.remember(note)
		return t.final(contract.FailureGaveUp, t.told(err))
	case t.in.HoldsTurn && t.overtaken(now.Add(wait)):
		t.remember(note)
		return t.overtake(now.Add(wait), t.told(err))
	}
	return t.again(ctx, contract.FailureUnavailable, wait, t.told(err), note)
}

func (t *try) overtaken(next time.Time) bool {
	since := t.entries().FailingSince
	return !since.IsZero() && next.Sub(since) > overtakeAfter
}

func (t *try) unauthorized(ctx context.Context, err error) error {
	t.authorized(false)
	t.Budget.Penalize(0, "", time.Now().Add(unauthorizedWait))
	return t.again(ctx, contract.FailureUnauthorized, unauthorizedWait, t.told(err), nil)
}

// notFound tells a method that this server lacks from a token that it does not
// know: both are a bare 404, and only the second hits getMe as well.
func (t *try) notFound(ctx context.Context, err error) error {
	_, probe := t.API.Call(t.stop, "getMe", nil) //nolint:contextcheck // a request like any other: it lives as long as the process
	switch telegram.Classify(probe, "getMe") {
	case telegram.NotFound, telegram.Unauthorized:
		return t.unauthorized(ctx, err)
	case telegram.Delivered:
		return t.final(contract.FailureRejected, t.told(err))
	default: // neither yes nor no
		return t.failed(ctx, err, false)
	}
}

func (t *try) authorized(ok bool) {
	if t.Unauthorized != nil {
		t.Unauthorized(!ok)
	}
}

// again asks Temporal for another attempt. It writes this attempt's number
// first, so that the next one can tell it from an attempt that vanished. A
// ledger that cannot be written is no reason to say nothing: the next attempt
// then takes this one for vanished, which errs on the safe side.
func (t *try) again(ctx context.Context, kind string, wait time.Duration, why string, note func(*contract.Ledger)) error {
	_ = t.write(ctx, func(l *contract.Ledger) {
		l.Attempt, l.InFlight, l.Error = t.info.Attempt, false, why
		if note != nil {
			note(l)
		}
	})
	return t.retryable(kind, wait, why)
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
	t.remember(func(l *contract.Ledger) { l.InFlight, l.Error = false, why })
	return temporal.NewApplicationErrorWithOptions(why, contract.FailureOvertaken, temporal.ApplicationErrorOptions{
		NonRetryable: true,
		Category:     temporal.ApplicationErrorCategoryBenign,
		Details:      []any{t.result(), t.entries(), next, t.in.Deadline},
	})
}

// remember changes the ledger in memory only, for an attempt that is the last.
func (t *try) remember(note func(*contract.Ledger)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	note(&t.ledger)
}

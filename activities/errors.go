package activities

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// unauthorizedLeast is the least pause after Telegram refused the token, and
// unauthorizedSpread what chance adds. Nobody serves the queue then until a
// process with a valid token is on duty.
const (
	unauthorizedLeast  = 2 * time.Second
	unauthorizedSpread = 3 * time.Second
)

// unsent is what ended an attempt before its request left: an error of the
// budget, of what is known of the chat, or one of those below.
type unsent struct{ error }

// Unwrap returns the reason.
func (u unsent) Unwrap() error { return u.error }

// errUnmarked keeps an at-most-once request from leaving.
var errUnmarked = errors.New("Temporal did not take the mark")

// spent ends a call that must not be made any more; nil when it may.
func (t *try) spent() error {
	l := t.entries()
	switch {
	case l.InFlight:
		return t.final(contract.FailureUncertain, "the process stopped while the request was under way")
	case t.method.Transient && t.info.Attempt > 1:
		return t.final(contract.FailureDropped, ErrDropped.Error())
	case l.Failures >= MaxFailures:
		return t.final(contract.FailureGaveUp, "every attempt failed or vanished with its process")
	}
	return nil
}

// judge is the one door through which an error leaves Send. It writes what must
// be remembered and returns the error that tells Temporal what to do: nil for
// delivered, and always an *temporal.ApplicationError, unwrapped, because the
// SDK takes a wrapped one for a retryable error of its own.
func (t *try) judge(ctx context.Context, err error) error {
	if kept, ok := errors.AsType[unsent](err); ok {
		return t.judgeUnsent(ctx, kept)
	}
	return t.judgeAnswer(ctx, err)
}

// judgeUnsent is for a request that did not leave. None of its rows counts a
// failure.
func (t *try) judgeUnsent(ctx context.Context, err error) error {
	if closed, ok := errors.AsType[*chatClosed](err); ok {
		return t.final(contract.FailureUnreachable, closed.why)
	}
	if moved, ok := errors.AsType[*MovedTo](err); ok {
		return t.final(contract.FailureMoved, moved.Error())
	}
	if paced, ok := errors.AsType[retryIn](err); ok {
		return t.again(ctx, pacing(paced))
	}
	switch {
	case errors.Is(err, ErrDropped):
		return t.final(contract.FailureDropped, ErrDropped.Error())
	case errors.Is(err, ErrSuperseded):
		return t.final(contract.FailureSuperseded, ErrSuperseded.Error())
	case errors.Is(err, errUnmarked):
		return t.again(ctx, delay{kind: contract.FailureUnavailable, wait: backoff(1, jitter()), why: errUnmarked.Error()})
	case errors.Is(err, ErrNotOnDuty):
		return t.again(ctx, delay{kind: contract.FailurePaced, wait: backoff(1, jitter()), why: ErrNotOnDuty.Error()})
	default: // the process stops, the server let go, or patience is at its end
		return t.again(ctx, delay{kind: contract.FailurePaced, wait: backoffLeast, why: "the wait for the budget was cut short"})
	}
}

// pacing is the delay that the budget asks for.
func pacing(paced retryIn) delay {
	d := delay{kind: contract.FailurePaced, wait: paced.RetryIn(), own: paced.MethodOnly(), why: "waiting for the chat's window"}
	if d.own {
		d.why = "waiting for the end of a penalty on the method"
	}
	return d
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
		t.closeChat(ctx, err)
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
	te, ok := errors.AsType[*telegram.Error](err)
	return ok && te.Code == http.StatusBadRequest
}

// told is the text of an error that may be kept. A path is no message text.
func (t *try) told(err error) string {
	if file, ok := errors.AsType[*telegram.FileError](err); ok {
		return fmt.Sprintf("file %.300q cannot be read: %v: put it back, on every machine that may be on duty, and make the call again", file.Path, file.Err)
	}
	return quiet(err, t.params)
}

// failed is for a request that brought no answer of use. Duplicate marks one
// after which Telegram may have taken the call, whoever's fault that was. A
// failure of the road counts nothing, and its wait is short: the budget is held
// for as long as the outage lasts.
func (t *try) failed(ctx context.Context, err error, duplicate bool) error {
	d := delay{kind: contract.FailureUnavailable, why: t.told(err), own: t.own}
	n := t.entries().Failures
	if t.own {
		n++
	}
	d.note = func(l *contract.Ledger) {
		l.Failures, l.Floods = n, 0
		l.PossibleDuplicate = l.PossibleDuplicate || duplicate
	}
	if n >= MaxFailures {
		t.remember(d.note)
		return t.final(contract.FailureGaveUp, d.why)
	}
	d.wait = backoff(1, jitter())
	if t.own {
		d.wait = backoff(n, jitter())
	}
	return t.again(ctx, d)
}

func (t *try) unauthorized(ctx context.Context, err error) error {
	t.authorized(false)
	wait := unauthorizedLeast + time.Duration(jitter()*float64(unauthorizedSpread))
	return t.again(ctx, delay{kind: contract.FailureUnauthorized, wait: wait, why: t.told(err)})
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

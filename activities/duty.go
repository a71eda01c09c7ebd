package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// termMost is how long one term lasts: history stays short, and the state is
// handed over in order once a day. The server allows an hour more.
const termMost = 24 * time.Hour

// failureDuty is the type of a hold that ended without a hand-over. The server
// starts the next one, here or elsewhere.
const failureDuty = "NotHeld"

// ErrStopping is returned by a Begin whose process is about to stop.
var ErrStopping = errors.New("the process is stopping")

// Duty holds the right to talk to Telegram for a bot.
type Duty struct {
	// Recorder writes the heartbeats.
	Recorder Recorder
	// Begin starts a term. Its context ends when the duty is lost. After an error
	// nothing has been sent; ErrStopping is one of a process that does not want the
	// duty any more.
	Begin func(ctx context.Context, t TermInput) (Term, error)
	// Log hears of heartbeats that fail.
	Log *slog.Logger
}

// TermInput is what a term begins with.
type TermInput struct {
	// Lease is renewed by the term's heartbeats.
	Lease *Lease
	// From is what the last holder left, nil for nothing.
	From *contract.Handover
	// Killed says that the last holder died: what it sent in its last seconds is
	// not known.
	Killed bool
}

// Term is one time on duty.
type Term interface {
	// Beat is the term's state now, without Since. It is asked for during End too,
	// and perhaps once just after it.
	Beat() contract.Beat
	// Urgent asks for a heartbeat at once, as for a new penalty.
	Urgent() <-chan struct{}
	// Over is closed when the term must end: the process stops, or Telegram refuses
	// the token.
	Over() <-chan struct{}
	// End stops everything and returns only when nothing more is sent. It may take
	// 20 s.
	End() contract.Handover
}

// HoldDuty is one term on duty, up to 24 h long. Its result is what the next one
// begins with. It returns an error, and the server tries again, when the duty was
// lost or the term could not begin; the next attempt then begins with the last
// heartbeat.
//
// Run twice, in two processes, one of them holds an attempt that the server has
// given up. It hears so at its next heartbeat and ends its lease; if it hears
// nothing, the lease runs out before the server starts the other.
func (d *Duty) HoldDuty(ctx context.Context, in contract.HoldInput) (contract.Handover, error) {
	from, killed := inherited(ctx, in)
	h := d.hold(ctx, from)
	defer h.lease.End()
	if err := h.beat(ctx, h.state(nil)); err != nil {
		return contract.Handover{}, notHeld("the first heartbeat failed", err)
	}
	ctx, rest := h.keep(ctx)
	defer rest()
	term, err := d.Begin(ctx, TermInput{Lease: h.lease, From: from, Killed: killed})
	if err != nil {
		rest()
		return h.giveBack(ctx, err)
	}
	h.began <- term
	day := time.NewTimer(termMost)
	defer day.Stop()
	select {
	case <-term.Over():
	case <-day.C:
	case <-ctx.Done():
		h.lease.End()
		term.End()
		return contract.Handover{}, notHeld("the duty was lost", context.Cause(ctx))
	}
	left := term.End()
	left.Clean = true
	return left, nil
}

// inherited is what the last holder left, nil for nothing, and whether it died.
// What an earlier attempt of this activity wrote is newer than the input. The
// tails of one that died are stale: its successor looks them up.
func inherited(ctx context.Context, in contract.HoldInput) (from *contract.Handover, killed bool) {
	from = in.Handover
	clean := from == nil || from.Clean
	if activity.HasHeartbeatDetails(ctx) {
		var last contract.Beat
		if activity.GetHeartbeatDetails(ctx, &last) == nil {
			from = &last.Handover
		}
		clean = last.Handover.Clean
	}
	if from == nil || clean {
		return from, !clean
	}
	left := *from
	left.Clean, left.Tails = false, nil
	return &left, true
}

// notHeld is the failure of a hold. It names its cause and does not wrap it: an
// activity must not end with the error of its own context, which the server
// refuses unless it asked for the cancellation.
func notHeld(what string, cause error) error {
	return temporal.NewApplicationErrorWithOptions(what+": "+cause.Error(), failureDuty, temporal.ApplicationErrorOptions{
		Category: temporal.ApplicationErrorCategoryBenign,
	})
}

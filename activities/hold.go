package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// beatEvery leaves room for three heartbeats that fail before the lease of a
	// send runs out, and for none before that of a poll does.
	beatEvery = 3 * time.Second
	// beatTimeout bounds one heartbeat.
	beatTimeout = 2 * time.Second
	// beatGap is the least time between two heartbeats.
	beatGap = 100 * time.Millisecond
	// bigState is the size above which the limiter's state is worth a line in the
	// log: the server takes 2 MiB.
	bigState = 1 << 20
)

// hold is one attempt's hold of the duty: its heartbeats, and the lease that
// they renew. They go through the client, not activity.RecordHeartbeat; see
// Recorder.
type hold struct {
	*Duty
	token []byte
	lease *Lease
	since time.Time
	from  *contract.Handover // what the last holder left, nil for nothing
	began chan Term          // told the term once; holds one

	failing, big bool // said so already
}

func (d *Duty) hold(ctx context.Context, from *contract.Handover) *hold {
	return &hold{
		Duty: d, token: activity.GetInfo(ctx).TaskToken, lease: NewLease(), since: time.Now(),
		from: from, began: make(chan Term, 1),
	}
}

// keep sends heartbeats until rest is called. The context it returns also ends
// when the duty is lost.
func (h *hold) keep(ctx context.Context) (held context.Context, rest func()) {
	held, lose := context.WithCancelCause(ctx)
	beating, stop := context.WithCancel(context.WithoutCancel(ctx)) // End is beaten for as well
	var done sync.WaitGroup
	done.Go(func() { h.beats(beating, lose) })
	return held, func() {
		stop()
		done.Wait()
		lose(nil)
	}
}

// beats sends heartbeats until ctx ends or the server does not want them. Then
// the lease ends at once.
func (h *hold) beats(ctx context.Context, lose context.CancelCauseFunc) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	var term Term
	var urgent <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case term = <-h.began:
			urgent = term.Urgent()
		case <-urgent:
		}
		err := h.beat(ctx, h.state(term))
		if unwanted(err) {
			h.lease.End()
			lose(err)
			return
		}
		h.tell(ctx, err)
		pause(ctx, beatGap)
	}
}

// state is what a heartbeat says: before the term has begun, what was inherited.
// It is never clean, for something may be sent after it.
func (h *hold) state(term Term) contract.Beat {
	var beat contract.Beat
	switch {
	case term != nil:
		beat = term.Beat()
	case h.from != nil:
		beat.Handover = *h.from
	}
	beat.Since, beat.Handover.Clean = h.since, false
	return beat
}

// beat sends one heartbeat and renews the lease if the server took it.
func (h *hold) beat(ctx context.Context, b contract.Beat) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	h.weigh(ctx, b)
	sent := time.Now()
	if err := h.Recorder.RecordActivityHeartbeat(ctx, h.token, b); err != nil {
		return err
	}
	h.lease.Renew(sent)
	return nil
}

// giveBack ends a hold whose term did not begin. Nothing was sent, so the next
// one finds what this one found. Where the heartbeat that says so fails, it takes
// this one for one that died.
func (h *hold) giveBack(ctx context.Context, why error) (contract.Handover, error) {
	var as contract.Handover
	if h.from != nil {
		as = *h.from
	}
	if errors.Is(why, ErrStopping) {
		return as, nil
	}
	if as.Clean {
		_ = h.beat(context.WithoutCancel(ctx), contract.Beat{Handover: as, Since: h.since})
	}
	return contract.Handover{}, notHeld("the term did not begin", why)
}

// unwanted reports whether a heartbeat's answer says that this attempt does not
// hold the duty any more. In a namespace that was deleted nobody does, and one that
// takes its name has another duty.
func unwanted(err error) bool {
	_, cancelled := errors.AsType[*temporal.CanceledError](err)
	_, deleted := errors.AsType[*serviceerror.NamespaceNotFound](err)
	return cancelled || deleted || closed(err) || errors.Is(err, activity.ErrActivityPaused) || errors.Is(err, activity.ErrActivityReset)
}

// tell says once that heartbeats fail.
func (h *hold) tell(ctx context.Context, err error) {
	if err != nil && !h.failing && ctx.Err() == nil {
		h.Log.WarnContext(ctx, "heartbeat of the duty failed", "error", err)
	}
	h.failing = err != nil
}

// weigh says once that the state is big.
func (h *hold) weigh(ctx context.Context, b contract.Beat) {
	if size := len(b.Handover.Limiter); size > bigState && !h.big {
		h.big = true
		h.Log.WarnContext(ctx, "the limiter's state is big", "bytes", size)
	}
}

// pause waits, or returns early when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

package cli

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// A replay is looked at ever less often while it goes on.
const (
	followFirst = 100 * time.Millisecond
	followMost  = 2 * time.Second
)

// follow waits until each replay that was accepted has ended. An interrupt ends
// the wait, not the replays.
func (r *deadRun) follow(ctx context.Context) {
	r.followed = true
	if r.failed != nil {
		return
	}
	bar := r.progress("waiting", len(r.accepted))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lanesAtOnce)
	for i := range r.accepted {
		d := &r.accepted[i] // its own
		group.Go(func() error {
			err := r.await(ctx, d)
			_ = bar.Add(1) // a picture for people
			return err
		})
	}
	r.failed = group.Wait()
	_ = bar.Finish() // as above
}

// await looks at a letter until the replay that it had accepted has ended.
func (r *deadRun) await(ctx context.Context, d *deadLetter) error {
	asked := lastAction(d.DeadState).At
	for wait := followFirst; ; wait = min(2*wait, followMost) {
		now, err := r.letter(ctx, d.workflowID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		// What it shows may be older than its answer.
		if seen := !lastAction(now.DeadState).At.Before(asked); seen && !now.Replaying || now.State != contract.DeadOpen {
			*d = now
			return nil
		}
		pause(ctx, wait)
	}
}

func lastAction(s contract.DeadState) contract.DeadAction {
	if n := len(s.Actions); n > 0 {
		return s.Actions[n-1]
	}
	return contract.DeadAction{}
}

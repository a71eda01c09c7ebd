package starter

import (
	"context"
	"fmt"
	"sync"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"

	"github.com/durabot/durabot/internal/contract"
)

// partsAtOnce is how many parts are started side by side.
const partsAtOnce = 16

// Start starts the parts of the broadcast and then the broadcast itself, so that
// nothing is sent before everything is stored. It tells started, one call after the
// other, of the recipients of each part that Temporal has.
//
// A start that was interrupted goes on when it is repeated, and starts no part
// twice. One of a broadcast that is started does nothing, and says so.
func (b *Broadcasts) Start(ctx context.Context, bc Broadcast, started func(recipients int)) (BroadcastStart, error) {
	if bc.sealed == nil {
		if err := bc.Seal(); err != nil {
			return BroadcastStart{}, err
		}
	}
	l := launch{Broadcasts: b, Broadcast: bc, now: b.now()}
	res := BroadcastStart{Name: bc.Name, WorkflowID: contract.BroadcastID(b.bot, bc.Name), Parts: len(bc.sealed.parts), At: l.now}
	first, err := l.found(ctx, res.WorkflowID)
	if err == nil && first == nil {
		if err = l.parts(ctx, started); err == nil {
			first, err = l.once(ctx, res.WorkflowID, l.execute)
		}
	}
	if err == nil && first != nil {
		var state contract.BroadcastState // a run that continues has a start of its own
		memoInto(first.GetMemo(), contract.MemoState, &state)
		res.At, res.Duplicate = state.AcceptedAt, true
	}
	return res, err
}

// launch is one start of a broadcast.
type launch struct {
	*Broadcasts
	Broadcast

	now time.Time
}

// parts starts all parts, or finds them started.
func (l launch) parts(ctx context.Context, started func(recipients int)) error {
	var one sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(partsAtOnce)
	for i, recipients := range l.sealed.parts {
		g.Go(func() error {
			if err := l.part(ctx, i+1); err != nil {
				return err
			}
			one.Lock()
			defer one.Unlock()
			started(len(recipients))
			return nil
		})
	}
	return g.Wait()
}

// part starts a part, or finds it started.
func (l launch) part(ctx context.Context, n int) error {
	id := contract.PartID(l.bot, l.Name, n)
	found, err := l.once(ctx, id, func(ctx context.Context, id string) error { return l.executePart(ctx, id, n) })
	if err != nil {
		return err
	}
	if found.GetCloseTime() == nil {
		return nil
	}
	whole, err := l.found(ctx, contract.BroadcastID(l.bot, l.Name)) // somebody else was faster
	if err == nil && whole == nil {
		err = fmt.Errorf("%s has ended before its broadcast was started: choose another name", id)
	}
	return err
}

// once starts a workflow, or returns the one of its ID and content that was there.
func (l launch) once(ctx context.Context, id string, execute func(context.Context, string) error) (*workflowpb.WorkflowExecutionInfo, error) {
	// Twice: what is in the way may be forgotten before it is looked at.
	for range 2 {
		err := execute(ctx, id)
		if !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
			if err != nil {
				err = fmt.Errorf("start %s: %w", id, err)
			}
			return nil, err
		}
		if found, err := l.found(ctx, id); found != nil || err != nil {
			return found, err
		}
	}
	return nil, fmt.Errorf("start %s: it is there, and cannot be found", id)
}

// found is the workflow of that ID, nil for none. It is an error when it belongs to
// another broadcast.
func (l launch) found(ctx context.Context, id string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := l.client.DescribeWorkflowExecution(ctx, id, "")
	switch {
	case notFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at %s: %w", id, err)
	}
	info := d.GetWorkflowExecutionInfo()
	if memoText(info.GetMemo(), contract.MemoHash) != l.sealed.hash {
		return nil, fmt.Errorf("%s: %w", id, ErrOtherBroadcast)
	}
	return info, nil
}

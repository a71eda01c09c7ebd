package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
)

// cancelled reports whether ctx ended because the workflow wants its call no
// more. A process that stops, or an attempt that was given up, is no cancel.
func cancelled(ctx context.Context) bool {
	return temporal.IsCanceledError(context.Cause(ctx))
}

// cancel ends the call without another request. The details say what is known of
// it: an earlier request may have arrived.
func (t *try) cancel() error { return temporal.NewCanceledError(t.result()) }

// acknowledge lets the SDK report a cancel. It takes a CanceledError for a failure
// unless it has heard of the cancel by a heartbeat of its own, which ours are not
// (Recorder). It comes last, because it ends the activity's context.
func (t *try) acknowledge(ctx context.Context, err error) {
	if _, ok := errors.AsType[*temporal.CanceledError](err); ok {
		activity.RecordHeartbeat(ctx, t.entries())
	}
}

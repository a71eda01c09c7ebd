package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// handlerBeat is how often a running handler shows that its process is alive;
// the workflow's heartbeat timeout is several times this.
const handlerBeat = 5 * time.Second

// Handler is the author's function. It may run several times for one update;
// the calls it returns count once.
type Handler func(ctx context.Context, u contract.Update) ([]contract.Call, error)

// Handling runs the author's handler.
type Handling struct {
	// Handler is the author's function.
	Handler Handler
	// Reader is what the handler reads Telegram through.
	Reader Reader
	// Redact takes secrets out of what a handler's error says.
	Redact func(string) string
	// Log receives one line for each failure, without its text.
	Log *slog.Logger
	// Handled is told how long each run of the handler took, and whether it brought
	// a result. Nil is allowed.
	Handled func(d time.Duration, ok bool)
}

// Handle runs the handler on one update. Run twice, it runs the handler twice;
// the workflow records one result. A handler that fails, panics, returns a call
// that cannot be made or outlasts its time ends in a HandlerFailed error, which
// the caller may retry.
func (h *Handling) Handle(ctx context.Context, in contract.HandleInput, raw converter.RawValue) ([]contract.Call, error) {
	u := contract.Update{
		ID: in.UpdateID, Kind: in.Kind, ChatID: in.ChatID, UserID: in.UserID,
		Raw: raw.Payload().GetData(), ReceivedAt: in.ReceivedAt,
	}
	began := time.Now()
	calls, err := h.run(ctx, u)
	if h.Handled != nil {
		h.Handled(time.Since(began), err == nil)
	}
	if err != nil {
		h.Log.WarnContext(ctx, "handler failed", "update_id", u.ID, "attempt", activity.GetInfo(ctx).Attempt)
		return nil, h.failure(err)
	}
	return calls, nil
}

type handled struct {
	calls []contract.Call
	err   error
}

// run gives the handler a goroutine of its own: one that never returns must not
// hold the activity beyond its time. Such a goroutine leaks until it ends.
func (h *Handling) run(ctx context.Context, u contract.Update) ([]contract.Call, error) {
	result := make(chan handled, 1)
	go func() {
		calls, err := h.guarded(withReader(ctx, h.Reader), u)
		result <- handled{calls, err}
	}()
	beat := time.NewTicker(handlerBeat)
	defer beat.Stop()
	for {
		select {
		case r := <-result:
			return r.calls, r.err
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
		case <-ctx.Done():
			return nil, fmt.Errorf("handler did not return in time: %w", ctx.Err())
		}
	}
}

// panicked is a recovered panic with the stack it left.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("handler panicked: %v", p.value) }

func (h *Handling) guarded(ctx context.Context, u contract.Update) (calls []contract.Call, err error) {
	defer func() {
		if v := recover(); v != nil {
			calls, err = nil, &panicked{value: v, stack: debug.Stack()}
		}
	}()
	calls, err = h.Handler(ctx, u)
	if err != nil {
		return nil, err
	}
	sealed := make([]contract.Call, len(calls))
	for i, call := range calls {
		if sealed[i], err = call.Seal(); err != nil {
			return nil, err
		}
		if err = CheckSplit(sealed[i]); err != nil {
			return nil, err
		}
	}
	return sealed, nil
}

// failure is benign for the SDK, which would log its text otherwise: an
// author's error may quote a message.
func (h *Handling) failure(err error) error {
	opts := temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign}
	if p, ok := errors.AsType[*panicked](err); ok {
		opts.Details = []any{h.Redact(string(p.stack))}
	}
	return temporal.NewApplicationErrorWithOptions(h.Redact(err.Error()), contract.FailureHandler, opts)
}

package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"go.temporal.io/api/serviceerror"
)

const (
	// taskFailedLine is what the SDK logs before it counts most tasks that fail
	// (internal_task_pollers.go of v1.51.0), with the error under taskFailedError.
	taskFailedLine  = "Failed to process workflow task."
	taskFailedError = "Error"
	// unsent begins the error of a task whose server did not hear that it needs
	// more time. The SDK means to count none of these, and compares a pointer.
	unsent = "error sending workflow task heartbeat"
)

// Log returns log with an ear on it.
func (s *Stuck) Log(log *slog.Logger) *slog.Logger { return slog.New(&ear{log.Handler(), s}) }

type ear struct {
	slog.Handler
	stuck *Stuck
}

// Enabled hears of warnings at any level of the log.
func (e *ear) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn || e.Handler.Enabled(ctx, l)
}

// Handle hears of one line and passes on all that are wanted.
func (e *ear) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == taskFailedLine {
		r.Attrs(func(a slog.Attr) bool {
			if err, ok := a.Value.Any().(error); ok && a.Key == taskFailedError && ofTheServer(err) {
				e.stuck.forgive()
			}
			return true
		})
	}
	if !e.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return e.Handler.Handle(ctx, r)
}

// WithAttrs keeps the ear.
func (e *ear) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &ear{e.Handler.WithAttrs(attrs), e.stuck}
}

// WithGroup keeps the ear.
func (e *ear) WithGroup(name string) slog.Handler { return &ear{e.Handler.WithGroup(name), e.stuck} }

// ofTheServer reports an error that is an answer of Temporal's, or the lack of one.
func ofTheServer(err error) bool {
	_, answer := errors.AsType[serviceerror.ServiceError](err)
	return answer || strings.HasPrefix(err.Error(), unsent)
}

package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// quietFor is how long a line is held back after the same one.
const quietFor = 10 * time.Second

// Quiet returns a logger for a library that repeats itself: what is below a
// warning is dropped unless the logger is at debug level, and the same message
// passes once in ten seconds.
func Quiet(log *slog.Logger) *slog.Logger {
	return slog.New(&quiet{Handler: log.Handler(), state: &quietState{last: map[string]time.Time{}}})
}

type quiet struct {
	slog.Handler
	state *quietState
}

type quietState struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func (q *quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, l) && (l >= slog.LevelWarn || q.Handler.Enabled(ctx, slog.LevelDebug))
}

// Handle relies on the library's messages being constants, but for those that
// begin with the code of their kind: their number bounds the map.
func (q *quiet) Handle(ctx context.Context, r slog.Record) error {
	kind := kindOf(r.Message)
	q.state.mu.Lock()
	last, seen := q.state.last[kind]
	again := seen && r.Time.Sub(last) < quietFor
	if !again {
		q.state.last[kind] = r.Time
	}
	q.state.mu.Unlock()
	if again {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

// kindOf is what a message has in common with others that say the same of
// something else: the SDK's codes, such as "[TMPRL1104]", stand before IDs.
func kindOf(message string) string {
	if code, _, ok := strings.Cut(message, "] "); ok && strings.HasPrefix(code, "[") {
		return code
	}
	return message
}

func (q *quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &quiet{Handler: q.Handler.WithAttrs(attrs), state: q.state}
}

func (q *quiet) WithGroup(name string) slog.Handler {
	return &quiet{Handler: q.Handler.WithGroup(name), state: q.state}
}

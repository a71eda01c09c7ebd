package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// silenceLimit ends a transfer in which nothing arrives for a while. A limit on
// the whole would have to guess the speed of the line.
type silenceLimit struct {
	limit time.Duration
	timer *time.Timer
	fired atomic.Bool
	stop  func()
}

// newSilenceLimit starts the limit. The context it returns ends with it.
func newSilenceLimit(ctx context.Context, limit time.Duration) (context.Context, *silenceLimit) {
	ctx, cancel := context.WithCancel(ctx)
	l := &silenceLimit{limit: limit}
	l.timer = time.AfterFunc(limit, func() {
		l.fired.Store(true)
		cancel()
	})
	l.stop = func() {
		l.timer.Stop()
		cancel()
	}
	return ctx, l
}

// name tells the limit's own end from the caller's: net/http calls both a
// cancellation.
func (l *silenceLimit) name(err error) error {
	if l.fired.Load() && errors.Is(err, context.Canceled) {
		return fmt.Errorf("nothing arrived for %s: %w", l.limit, context.DeadlineExceeded)
	}
	return err
}

// heardReader pushes the limit back with each read.
type heardReader struct {
	io.Reader
	silence *silenceLimit
}

// Read runs the clock only while it waits for the server. A slow writer on the
// other side is no silence.
func (r *heardReader) Read(p []byte) (int, error) {
	r.silence.timer.Reset(r.silence.limit)
	n, err := r.Reader.Read(p)
	r.silence.timer.Stop()
	return n, err
}

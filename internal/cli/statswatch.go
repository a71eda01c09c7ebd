package cli

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/durabot/durabot/internal/stats"
)

const (
	// watchEvery is how often a watch asks unless it was told otherwise, and
	// watchLeast what it can be told.
	watchEvery = 2 * time.Second
	watchLeast = 100 * time.Millisecond
	// fresh puts the cursor into the corner and clears what is below it.
	fresh = "\x1b[H\x1b[J"
)

// watch shows the numbers until it is interrupted: on a terminal in place, else
// one below the other. While Temporal is away the last ones stay.
func (p Program) watch(ctx context.Context, s *frontend, bot int64, format *choice, every time.Duration) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last stats.Numbers
	var at time.Time
	for countable := s.countable(ctx); ; {
		found, err := s.numbers(ctx, bot, countable)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			last, at = found, time.Now()
		}
		if err := p.show(format, last, at, err); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// show writes one picture at once, so that it does not flicker.
func (p Program) show(format *choice, last stats.Numbers, at time.Time, failed error) error {
	if format.value == "json" {
		if failed != nil {
			return nil // scripts are told nothing rather than something old
		}
		return writeJSON(p.Stdout, last)
	}
	var picture bytes.Buffer
	if terminal(p.Stdout) {
		picture.WriteString(fresh)
	}
	switch {
	case failed == nil:
		fmt.Fprintf(&picture, "%-12s %s\n", "at", stamp(at))
	case at.IsZero():
		fmt.Fprintf(&picture, "%-12s no answer from Temporal yet\n", "at")
	default:
		fmt.Fprintf(&picture, "%-12s %s; no answer from Temporal for %s\n", "at", stamp(at), ago(at, time.Now()))
	}
	if !at.IsZero() {
		if err := writeStats(&picture, last, time.Now()); err != nil {
			return err
		}
	}
	if !terminal(p.Stdout) {
		picture.WriteByte('\n')
	}
	_, err := p.Stdout.Write(picture.Bytes())
	return err
}

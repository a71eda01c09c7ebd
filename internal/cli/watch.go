package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"
)

const (
	// watchEvery is how often a watch asks unless it was told otherwise, and
	// watchLeast what it can be told.
	watchEvery = 2 * time.Second
	watchLeast = 100 * time.Millisecond
	// fresh puts the cursor into the corner and clears what is below it.
	fresh = "\x1b[H\x1b[J"
)

// picture is what a watch shows: an answer for scripts, and how people read it.
type picture struct {
	answer any
	write  func(w io.Writer) error
	// last is set when nothing will change any more.
	last bool
}

// watch shows what look finds until it is interrupted, or nothing will change any
// more: on a terminal in place, else one below the other. While Temporal is away
// the last picture stays.
func (p Program) watch(ctx context.Context, format *choice, every time.Duration, look func() (picture, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last picture
	var at time.Time
	for {
		found, err := look()
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			last, at = found, time.Now()
		}
		if err := p.show(format, last, at, err); err != nil || last.last {
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
func (p Program) show(format *choice, last picture, at time.Time, failed error) error {
	if format.value == "json" {
		if failed != nil {
			return nil // scripts are told nothing rather than something old
		}
		return writeJSON(p.Stdout, last.answer)
	}
	var text bytes.Buffer
	if terminal(p.Stdout) {
		text.WriteString(fresh)
	}
	switch {
	case failed == nil:
		fmt.Fprintf(&text, "%-12s %s\n", "at", stamp(at))
	case at.IsZero():
		fmt.Fprintf(&text, "%-12s no answer from Temporal yet\n", "at")
	default:
		fmt.Fprintf(&text, "%-12s %s; no answer from Temporal for %s\n", "at", stamp(at), ago(at, time.Now()))
	}
	if !at.IsZero() {
		if err := last.write(&text); err != nil {
			return err
		}
	}
	if !terminal(p.Stdout) {
		text.WriteByte('\n')
	}
	_, err := p.Stdout.Write(text.Bytes())
	return err
}

package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// barLength is how many characters stand for all recipients.
const barLength = 30

// writeBroadcast writes a broadcast for people.
func writeBroadcast(w io.Writer, b broadcast.Status, now time.Time) error {
	fmt.Fprintf(w, "broadcast %s: %s to %s\n", b.Name, orDash(b.Method), amount(b.Total, "chat"))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-9s %s\n", name, text)
		}
	}
	line("state", stateText(b))
	line("progress", progressText(b))
	line("outcomes", outcomesText(b))
	line("rate", rateText(b))
	line("ends", endsText(b, now))
	line("origin", b.Origin)
	for _, t := range []struct {
		name string
		at   time.Time
	}{{"accepted", b.AcceptedAt}, {"due", b.At}, {"began", b.BeganAt}, {"ended", b.EndedAt}} {
		if !t.at.IsZero() {
			line(t.name, stamp(t.at))
		}
	}
	if len(b.Actions) > 0 {
		fmt.Fprintln(w)
	}
	for _, a := range b.Actions {
		fmt.Fprintf(w, "  %s  %s by %s%s\n", stamp(a.At), a.What, orDash(a.By), behind(": ", oneLine(a.Reason)))
	}
	return nil
}

// stateText says of a paused one who did that, and why.
func stateText(b broadcast.Status) string {
	text := string(b.State)
	if a, ok := pausedBy(b); ok {
		text += " by " + orDash(a.By) + behind(": ", oneLine(a.Reason))
	}
	if hasEnded(b.State) && !isOver(b) {
		text += ", and requests that have left are awaited"
	}
	return text
}

// pausedBy is what paused a broadcast that is paused.
func pausedBy(b broadcast.Status) (contract.BroadcastOrder, bool) {
	if b.State != contract.BroadcastPaused {
		return contract.BroadcastOrder{}, false
	}
	for _, a := range slices.Backward(b.Actions) {
		if a.What == contract.BroadcastPause {
			return a, true
		}
	}
	return contract.BroadcastOrder{}, false
}

func progressText(b broadcast.Status) string {
	done := b.Total - b.Pending
	full, percent := 0, 0
	if b.Total > 0 {
		full, percent = barLength*done/b.Total, 100*done/b.Total
	}
	return fmt.Sprintf("%s%s %d %%, %s of %s", strings.Repeat("█", full), strings.Repeat("░", barLength-full), percent, thousands(done), thousands(b.Total))
}

// outcomesText are the outcomes that occurred, the most frequent first.
func outcomesText(b broadcast.Status) string {
	text := counts(b.Counts.Outcomes)
	if n := b.Counts.PossibleDuplicates; n > 0 {
		text += "; " + plural(n, "POSSIBLE DUPLICATE")
	}
	return text
}

func rateText(b broadcast.Status) string {
	var parts []string
	if b.RatePerS > 0 {
		parts = append(parts, fmt.Sprintf("%.4g a second", b.RatePerS))
	}
	if b.RateLimit > 0 {
		parts = append(parts, fmt.Sprintf("%.4g at most", b.RateLimit))
	}
	if b.Paid {
		parts = append(parts, "paid")
	}
	return strings.Join(parts, ", ")
}

// endsText is when it will have ended, "" when nobody can tell.
func endsText(b broadcast.Status, now time.Time) string {
	if b.ETA == nil {
		return ""
	}
	d := time.Duration(*b.ETA) * time.Second
	return fmt.Sprintf("in about %s, at %s", brief(max(d, time.Second)), clock(now.Add(d)))
}

// statusLine is a broadcast in one line.
func statusLine(b broadcast.Status) string {
	return fmt.Sprintf("%s is %s: %s of %s", b.Name, stateText(b), thousands(b.Total-b.Pending), amount(b.Total, "recipient")) +
		behind(", ", outcomesText(b))
}

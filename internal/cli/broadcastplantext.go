package cli

import (
	"fmt"
	"io"
	"strings"
)

// write shows the plan. What people would read is for a terminal alone.
func (b broadcastPlan) write(w io.Writer) error {
	fmt.Fprintf(w, "broadcast %s: %s to %s\n", b.Name, b.Method, amount(b.Recipients, "chat"))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-11s %s\n", name, text)
		}
	}
	line("origin", b.Origin)
	line("rows", b.rowsText())
	if b.At != nil {
		line("begins", stamp(*b.At))
	}
	line("takes", b.takesText())
	if b.ETAIfPaid != nil {
		line("with --paid", b.ifPaid.text()+", "+starsText(*b.StarsIfPaid))
	}
	if b.says != "" && terminal(w) {
		line("the first", strings.ReplaceAll(b.says, "\n", "\n"+strings.Repeat(" ", 14)))
	}
	return nil
}

// rowsText is what became of the rows that are no recipients of their own.
func (b broadcastPlan) rowsText() string {
	var parts []string
	for _, of := range []struct {
		n    int
		what string
	}{{b.Duplicates, "left out as duplicates"}, {b.Invalid, "left out as invalid"}, {b.Moved, "taken to the chat's new id"}} {
		if of.n > 0 {
			parts = append(parts, thousands(of.n)+" "+of.what)
		}
	}
	return strings.Join(parts, ", ")
}

// takesText is how long it will take, and what that rests on.
func (b broadcastPlan) takesText() string {
	text := b.now.text()
	if b.Paid {
		text += ", " + starsText(b.Stars)
	}
	if b.assumed {
		text += "; the rate is the default: no process on duty has told its own"
	}
	if b.beside > 0 {
		text += "; " + plural(b.beside, "other broadcast") + " running, too: they share the rate"
	}
	return text
}

func (e estimate) text() string {
	if e.takes == nil {
		return "no limit is set: as fast as Telegram takes it"
	}
	return fmt.Sprintf("about %s at %.4g a second", brief(*e.takes), e.perSecond)
}

func starsText(n int) string { return "about " + amount(n, "Star") }

// amount is plural with thousands.
func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// writeStart tells what was accepted, or what was already.
func (b broadcastPlan) writeStart(w io.Writer) error {
	text := "started"
	switch {
	case b.Duplicate:
		text = "duplicate, nothing is started again: " + statusLine(*b.Status)
	case b.Status != nil:
		text = statusLine(*b.Status)
	default:
		if b.At != nil {
			text = "accepted, begins " + stamp(*b.At)
		}
		text += fmt.Sprintf(": %s in %s; see `durabot broadcast status %s`", amount(b.Recipients, "recipient"), plural(b.Parts, "part"), b.Name)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

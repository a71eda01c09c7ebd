package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// moment is one line of a timeline. Zero time is "not yet".
type moment struct {
	at   time.Time
	text string
}

// writeStory writes a timeline for people, in times since the update came.
func writeStory(w io.Writer, s shown) error {
	fmt.Fprintf(w, "update %s  %s%s\n", s.UpdateID, orDash(s.Kind), to(s.ChatID))
	fmt.Fprintf(w, "  outcome   %s\n", storyOutcome(s.Story))
	fmt.Fprintf(w, "  received  %s\n", s.ReceivedAt.Local().Format("2006-01-02 15:04:05.000 -07:00"))
	fmt.Fprintf(w, "  workflow  %s\n", s.WorkflowID)
	if s.DeadLetter != "" {
		fmt.Fprintf(w, "  dead      %s\n", seeDead(s.DeadLetter))
	}
	if s.UI != "" {
		fmt.Fprintf(w, "  ui        %s\n", s.UI)
	}
	fmt.Fprintln(w)
	for _, m := range moments(s.Story) {
		fmt.Fprintf(w, "  %9s  %s\n", since(s.ReceivedAt, m.at), m.text)
	}
	if len(s.Payload) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.Payload)
	}
	return nil
}

// seeDead is a dead letter, and how to look at it.
func seeDead(id string) string { return id + ": see `durabot dead show " + id + "`" }

func to(chat string) string {
	if chat == "" {
		return ""
	}
	return " → chat " + chat
}

// storyOutcome names the status only where it says more than the outcome.
func storyOutcome(s story.Story) string {
	text := orDash(string(s.Outcome))
	if s.Reason != "" {
		text += " (" + string(s.Reason) + ")"
	}
	if s.Status != "completed" {
		text += ", " + s.Status
	}
	return text
}

// since is a time relative to the first one, "…" for what has not come.
func since(first, at time.Time) string {
	if at.IsZero() {
		return "…"
	}
	d := max(at.Sub(first), 0)
	if d < time.Minute {
		return fmt.Sprintf("+%.3fs", d.Seconds())
	}
	return "+" + brief(d)
}

// moments are the lines in the order of time, those to come last.
func moments(s story.Story) []moment {
	all := []moment{{s.AcceptedAt, "stored in Temporal"}}
	if t := s.Turn; t != nil {
		all = append(all, moment{t.Until, turnText(*t, s.ClosedAt)})
	}
	if h := s.Handling; h != nil {
		all = append(all, moment{h.ClosedAt, handlingText(*h)})
	}
	if s.Answer != nil {
		all = append(all, moment{s.Answer.ClosedAt, callText(*s.Answer) + " (the press, answered at once)"})
	}
	for _, c := range s.Calls {
		at := c.ClosedAt
		if at.IsZero() && c.Outcome != contract.Pending {
			at = s.ClosedAt // it was never sent, and has no time of its own
		}
		all = append(all, moment{at, callText(c)})
	}
	if !s.ClosedAt.IsZero() {
		text := "closed: " + storyOutcome(s)
		if s.WokeOthers > 0 {
			text += fmt.Sprintf(", woke %d later updates of its chat", s.WokeOthers)
		}
		all = append(all, moment{s.ClosedAt, text})
	}
	slices.SortStableFunc(all, moment.compare)
	return all
}

// compare puts what has not come behind what has.
func (m moment) compare(o moment) int {
	switch {
	case m.at.IsZero() && o.at.IsZero():
		return 0
	case m.at.IsZero():
		return 1
	case o.at.IsZero():
		return -1
	default:
		return m.at.Compare(o.at)
	}
}

// turnText is the wait for the chat's earlier update. An update that was ended
// while it waited never had its turn.
func turnText(t story.Turn, closed time.Time) string {
	switch {
	case t.Until.IsZero() && closed.IsZero():
		return "waits for " + t.After + ", the chat's earlier update"
	case t.Until.IsZero():
		return "ended while it waited for " + t.After
	}
	text := fmt.Sprintf("its turn after %s: %s is done", brief(t.Until.Sub(t.Since)), t.After)
	if t.Woken {
		text += ", and woke it"
	}
	return text
}

// handlingText is the handler's part in one line. An error beside a good end is
// that of an earlier attempt.
func handlingText(h story.Handling) string {
	text := map[string]string{
		"running": "handler under way", "waiting": "handler waits for its next attempt", "done": "handled", "failed": "not handled",
	}[h.State]
	parts := []string{fmt.Sprintf("%s: %s", text, attemptsOf(h.Attempts, h.MaxAttempts))}
	if !h.ClosedAt.IsZero() {
		parts = append(parts, brief(h.ClosedAt.Sub(h.StartedAt)))
	}
	if h.State == "done" {
		parts = append(parts, plural(h.Decided, "call"))
	}
	switch {
	case h.Error != "" && h.State == "failed":
		parts = append(parts, h.Error)
	case h.Error != "":
		parts = append(parts, "earlier "+h.Error)
	}
	if !h.NextAttemptAt.IsZero() {
		parts = append(parts, "next at "+clock(h.NextAttemptAt))
	}
	return strings.Join(parts, ", ")
}

func attemptsOf(n, most int) string { return fmt.Sprintf("%s of %d", plural(n, "attempt"), most) }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// clock is a time of day, with its date when it is another day's.
func clock(t time.Time) string {
	if d := time.Until(t).Abs(); d >= day/2 {
		return stamp(t)
	}
	return t.Local().Format("15:04:05")
}

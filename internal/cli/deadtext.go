package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// write writes for people: what it is, how it stands, and what was done to it.
func (s shownDead) write(w io.Writer, now time.Time) error {
	fmt.Fprintf(w, "dead letter %s  %s%s\n", s.ID, orDash(s.Method), to(s.ChatID))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-9s %s\n", name, text)
		}
	}
	line("state", s.stateText())
	line("reason", string(s.Reason)+behind(": ", oneLine(s.Error)))
	line("accepted", stamp(s.AcceptedAt))
	line("died", fmt.Sprintf("%s, tried %s", stamp(s.At), times(s.Attempts)))
	line("left", s.leftText())
	line("too late", s.deadlineText(now))
	line("origin", s.Origin)
	line("workflow", s.WorkflowID)
	line("ui", s.UI)
	if len(s.Actions) > 0 {
		fmt.Fprintln(w)
	}
	for _, a := range s.Actions {
		writeAction(w, a)
	}
	if s.Payload != nil {
		_, err := fmt.Fprint(w, "\n", indented(s.Payload))
		return err
	}
	return nil
}

// stateText says of an open one what can be done.
func (s shownDead) stateText() string {
	switch {
	case s.Replaying:
		return "open, being replayed"
	case s.State != contract.DeadOpen:
		return string(s.State)
	case s.Reason == contract.ReasonTooLarge:
		return "open: too little was kept to replay it; `durabot dead discard " + s.ID + "`"
	case s.Reason == contract.ReasonUncertain:
		return "open: it may have arrived; `durabot dead replay " + s.ID + " --allow-duplicate`, or discard it"
	default:
		return "open: `durabot dead replay " + s.ID + "`, or discard it"
	}
}

func (s shownDead) leftText() string {
	text := plural(s.Left, "call")
	if s.Kind == contract.DeadUpdate && s.Left == 0 && s.State == contract.DeadOpen {
		text = "the update, to be handled again"
	}
	if s.Delivered > 0 {
		text += fmt.Sprintf("; %d delivered", s.Delivered)
	}
	return text
}

func (s shownDead) deadlineText(now time.Time) string {
	switch {
	case s.Deadline.IsZero():
		return ""
	case s.Deadline.After(now):
		return "from " + stamp(s.Deadline)
	default:
		return "since " + stamp(s.Deadline) + "; a replay needs --ttl"
	}
}

// writeAction is who did what and why, and what became of each call.
func writeAction(w io.Writer, a contract.DeadAction) {
	text := fmt.Sprintf("%s  %s by %s", stamp(a.At), a.What, a.By)
	if a.Edited {
		text += ", edited"
	}
	if a.AllowDuplicate {
		text += ", a duplicate allowed"
	}
	fmt.Fprintln(w, "  "+text+behind(": ", oneLine(a.Reason)))
	for _, c := range a.Calls {
		fmt.Fprintf(w, "  %19s  %s\n", "", callText(story.Call{CallResult: c}))
	}
}

// behind puts text behind something, and nothing behind it when there is none.
func behind(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// times is how often, for people.
func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	default:
		return plural(n, "time")
	}
}

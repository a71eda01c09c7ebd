package cli

import (
	"fmt"
	"strings"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// errorLength is how much of an error fits into a line of a timeline.
const errorLength = 120

// callText is a call in one line: what, how it ended, how hard it was.
func callText(c story.Call) string {
	parts := []string{c.Method + to(c.ChatID) + ": " + callState(c)}
	add := func(text string, when bool) {
		if when {
			parts = append(parts, text)
		}
	}
	// What a person looks for comes first; why it went so comes last, as it is long.
	add("message "+c.MessageID, c.MessageID != "")
	add(plural(c.Attempts, "attempt"), c.Attempts > 0)
	add(brief(c.ClosedAt.Sub(c.AcceptedAt)), !c.ClosedAt.IsZero() && !c.AcceptedAt.IsZero())
	add("next at "+clock(c.NextAttemptAt), !c.NextAttemptAt.IsZero())
	add("POSSIBLE DUPLICATE", c.PossibleDuplicate)
	add("degraded", c.Degraded)
	add("overtaken", c.Overtaken)
	add("moved to chat "+c.MovedTo, c.MovedTo != "")
	add(fmt.Sprintf("in %d messages", len(c.MessageIDs)), len(c.MessageIDs) > 1)
	add("as "+c.WorkflowID, c.WorkflowID != "")
	add(c.LastFailure, c.LastFailure != "")
	add(short(c.Error, errorLength), c.Error != "")
	return strings.Join(parts, ", ")
}

// callState is the outcome, or where an open call stands.
func callState(c story.Call) string {
	switch {
	case c.Reason != "":
		return string(c.Outcome) + " (" + string(c.Reason) + ")"
	case c.Outcome == contract.Pending && c.State != "":
		return strings.ReplaceAll(c.State, "_", " ")
	default:
		return orDash(string(c.Outcome))
	}
}

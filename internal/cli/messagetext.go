package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/cli/story"
	"github.com/durabot/durabot/internal/contract"
)

// detail is one line of a head.
type detail struct{ name, text string }

// details are what is to be known of a message at once.
func (m message) details() []detail {
	all := []detail{{"outcome", m.ending()}, {"accepted", m.AcceptedAt.Local().Format("2006-01-02 15:04:05.000 -07:00")}}
	add := func(name, text string, when bool) {
		if when {
			all = append(all, detail{name, text})
		}
	}
	add("due", stamp(m.DueAt), !m.DueAt.IsZero())
	add("after", m.After+map[bool]string{true: ", if that one is delivered"}[m.AfterDelivered], m.After != "")
	add("parts", fmt.Sprint(m.Total), m.Total > 1)
	add("messages", strings.Join(m.Messages(), ", "), len(m.Messages()) > 0)
	add("error", oneLine(m.Error), m.Error != "")
	add("dead", seeDead(m.DeadLetter), m.DeadLetter != "")
	add("workflow", m.WorkflowID, true)
	return all
}

// ending is the outcome with its flags, and the status where that says more.
func (m message) ending() string {
	parts := []string{m.outcome()}
	if m.Outcome == contract.Pending && m.PossibleDuplicate {
		parts = append(parts, "POSSIBLE DUPLICATE")
	}
	if m.Degraded {
		parts = append(parts, "degraded")
	}
	if m.Overtaken {
		parts = append(parts, "overtaken")
	}
	if m.MovedTo != "" {
		parts = append(parts, "moved to chat "+m.MovedTo)
	}
	if m.Status != "completed" && m.Status != string(m.Outcome) {
		parts = append(parts, m.Status)
	}
	return strings.Join(parts, ", ")
}

// moments are the lines of its timeline in the order of time, those to come last.
func (m message) moments() []moment {
	all := []moment{{m.AcceptedAt, "accepted"}}
	switch {
	case m.State == "held":
		all = append(all, moment{text: "waits for its time, " + stamp(m.NextAttemptAt)})
	case !m.DueAt.IsZero() && (m.ClosedAt.IsZero() || m.ClosedAt.After(m.DueAt)):
		all = append(all, moment{m.DueAt, "its time has come"})
	}
	if t := m.Turn; t != nil {
		all = append(all, moment{t.Until, behindText(*t, m.ClosedAt)})
	}
	for i, part := range m.Parts {
		part.LastFailure = whyWaits(part)
		text := callText(part)
		if m.Total > 1 {
			text = fmt.Sprintf("part %d of %d: %s", i+1, m.Total, text)
		}
		at := part.ClosedAt
		if at.IsZero() && part.Outcome != contract.Pending {
			at = m.AcceptedAt // it was made in its update, before this began
		}
		all = append(all, moment{at, text})
	}
	if m.State == "accepted" {
		all = append(all, moment{text: "waits for a process that runs the bot"})
	}
	if !m.ClosedAt.IsZero() {
		all = append(all, moment{m.ClosedAt, "closed: " + m.ending()})
	}
	slices.SortStableFunc(all, moment.compare)
	return all
}

// behindText is the wait for the message before it.
func behindText(t story.Turn, closed time.Time) string {
	switch {
	case t.Until.IsZero() && closed.IsZero():
		return "waits for " + t.After + " to end"
	case t.Until.IsZero():
		return "ended while it waited for " + t.After
	default:
		return fmt.Sprintf("its turn after %s: %s has ended", brief(t.Until.Sub(t.Since)), t.After)
	}
}

// whyWaits says why a call is not made at once, "" when nothing holds it up: the
// type of its last failure, and what that means.
func whyWaits(c story.Call) string {
	meaning := map[string]string{
		contract.FailurePaced:        "the chat has had its share for now",
		contract.FailureRateLimited:  "Telegram wants the chat left alone until then",
		contract.FailureUnavailable:  "nobody took it",
		contract.FailureUnauthorized: "Telegram does not take the bot's token",
	}[c.LastFailure]
	switch {
	case c.State == "queued":
		return "waits for the budget and for the process on duty"
	case c.State == "waiting" && meaning != "":
		return c.LastFailure + " (" + meaning + ")"
	default:
		return c.LastFailure
	}
}

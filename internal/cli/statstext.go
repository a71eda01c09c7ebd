package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/stats"
	"github.com/durabot/durabot/starter"
)

// linesMost is how many penalties, and how many rates, a person is shown.
const linesMost = 20

// writeStats writes for people: a name, and what there is to say of it.
func writeStats(w io.Writer, n stats.Numbers, now time.Time) error {
	line := func(name, text string) { fmt.Fprintf(w, "%-12s %s\n", name, oneLine(text)) }
	line("on duty", dutyText(n.Holder, now))
	if n.Duty == nil {
		line("", "start `durabot run`")
	}
	line("sending", sendingText(n, now))
	line("inbox", inboxText(n.InboxUnhandled))
	line("queue", queueText(n))
	line("dead letters", fmt.Sprintf("%d open; %d in the last 24h", n.DeadOpen, n.DeadLast24h))
	if n.Limiter == nil {
		return nil
	}
	line("delivered", fmt.Sprintf("%s in the last 24h", plural(*n.DeliveredLast24h, "call")))
	line("waiting", waitingText(*n.Limiter))
	line("unreachable", plural(*n.UnreachableChats, "chat"))
	writeSome(n.Limiter.Penalties, func(p contract.Penalty) { line("penalty", penaltyText(p, now)) }, line)
	writeSome(n.Limiter.Learned, func(r contract.LearnedRate) { line("learned", learnedText(r)) }, line)
	return nil
}

// inboxText is how many updates wait for the handler, as far as it can be told.
func inboxText(unhandled *int64) string {
	if unhandled == nil {
		return "unknown without search attributes: run `durabot setup`"
	}
	return plural(int(*unhandled), "update") + " not handled yet"
}

// queueText is what waits to be sent, and for how long.
func queueText(n stats.Numbers) string {
	text := plural(int(n.QueueDepth), "call") + " to send"
	if n.QueueDepth > 0 {
		text += "; the oldest waits for " + seconds(n.OldestPendingAge)
	}
	return text
}

// seconds are a duration for people.
func seconds(n int64) string {
	if n == 0 {
		return "0s"
	}
	return brief(time.Duration(n) * time.Second)
}

func writeSome[T any](all []T, write func(T), line func(name, text string)) {
	for _, one := range all[:min(len(all), linesMost)] {
		write(one)
	}
	if more := len(all) - linesMost; more > 0 {
		line("", fmt.Sprintf("and %d more: see -o json", more))
	}
}

func dutyText(h starter.Holder, now time.Time) string {
	switch {
	case !h.Running:
		return "nobody: no process has asked for it yet"
	case h.Identity == "":
		return "nobody for " + ago(h.WaitingSince, now)
	}
	text := fmt.Sprintf("%s for %s, since %s", h.Identity, ago(h.Since, now), stamp(h.Since))
	if h.Beat.Address != "" {
		text += ", at " + h.Beat.Address
	}
	return text
}

// sendingText says whether calls leave. A pause is told though nobody keeps to it
// yet: it will be kept.
func sendingText(n stats.Numbers, now time.Time) string {
	var parts []string
	if p := n.Paused; p != nil {
		parts = append(parts, pausedText(*p, now))
	}
	if n.Limiter == nil {
		return strings.Join(append(parts, "unknown until a process on duty has reported"), "; ")
	}
	for _, held := range n.Limiter.Held {
		if held != contract.HeldPaused || n.Paused == nil {
			parts = append(parts, "held: "+held)
		}
	}
	if len(parts) == 0 {
		return "yes"
	}
	return strings.Join(parts, "; ")
}

func pausedText(p contract.Pause, now time.Time) string {
	return fmt.Sprintf("paused for %s by %s: %s", ago(p.At, now), p.By, p.Reason)
}

func waitingText(f contract.LimiterFigures) string {
	text := fmt.Sprintf("%d urgent, %d normal, %d bulk; %d in the air", f.Waiting[contract.Urgent], f.Waiting[contract.Normal],
		f.Waiting[contract.Bulk], f.InAir)
	if f.Tokens >= 0 {
		text += fmt.Sprintf("; room for %d this second", f.Tokens)
	}
	return text
}

func penaltyText(p contract.Penalty, now time.Time) string {
	text := scopeText(p.ChatID)
	if p.Method != "" {
		text += ", " + p.Method
	}
	return text + ", " + endText(p.Until, now)
}

func endText(until, now time.Time) string {
	if left := until.Sub(now); left > 0 {
		return "ends in " + brief(left)
	}
	return "is over, one call tries"
}

func learnedText(r contract.LearnedRate) string {
	return fmt.Sprintf("%s at %.0f %% of its rate", scopeText(r.ChatID), 100*r.Share)
}

func scopeText(chat string) string {
	if chat == "" {
		return "the bot"
	}
	return "chat " + chat
}

// ago is how long something lasts already, in whole seconds; the clocks of two
// machines may differ.
func ago(since, now time.Time) string {
	if d := now.Sub(since).Truncate(time.Second); d > 0 {
		return brief(d)
	}
	return "0s"
}

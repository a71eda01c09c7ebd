package cli

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// methodName is written into a query, so nothing else may pass.
var methodName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)

// scheduled is what a list calls a message whose time has not come.
const scheduled = contract.OutcomeScheduled

// messageFilter says which messages are listed.
type messageFilter struct {
	chat, method, since string
	outcome             *choice // "" is any
	limit               int
}

// messageOutcomes are what a list can be narrowed to: outcomes, the reasons of
// dead ones, and what is more to say of those that are open or delivered.
func messageOutcomes() []string {
	return []string{
		string(contract.Pending), scheduled, string(contract.Delivered), contract.OutcomeDuplicate,
		string(contract.Unreachable), string(contract.Expired), string(contract.Cancelled), string(contract.Superseded), string(contract.Dropped),
		string(contract.Dead), string(contract.ReasonRejected), string(contract.ReasonUncertain), string(contract.ReasonGaveUp), string(contract.ReasonMovedTwice),
	}
}

// validate refuses what could not be a chat, a method or a time: all become a
// part of a query.
func (f messageFilter) validate(now time.Time) error {
	switch {
	case f.limit < 1 || f.limit > listMost:
		return fmt.Errorf("--limit: want 1 to %d, got %d", listMost, f.limit)
	case f.chat != "" && !chatID.MatchString(f.chat) && !chatName.MatchString(f.chat):
		return fmt.Errorf("--chat: want a chat id such as 42 or -1001234567890, or @name, got %q", f.chat)
	case f.method != "" && !methodName.MatchString(f.method):
		return fmt.Errorf("--method: want a Bot API method such as sendMessage, got %q", f.method)
	}
	_, err := f.from(now)
	return err
}

// from is the time of the oldest messages that are listed, zero for all.
func (f messageFilter) from(now time.Time) (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(f.since); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, f.since)
	if err != nil {
		return at, fmt.Errorf("--since: want a duration such as 24h, or a time such as 2030-01-31T09:00:00Z, got %q", f.since)
	}
	return at, nil
}

// messages makes the query for the newest messages of a bot.
func (s *frontend) messages(ctx context.Context, bot int64, f messageFilter, now time.Time) (newest, error) {
	n := newest{frontend: s, query: ofType(contract.MessageWorkflow, bot), limit: f.limit}
	missing, _, err := s.attributes(ctx)
	if err != nil {
		return n, fmt.Errorf("look up search attributes: %w", err)
	}
	for _, want := range []struct{ flag, value, attribute string }{
		{"chat", f.chat, contract.AttributeChat}, {"method", f.method, contract.AttributeKind},
	} {
		switch {
		case want.value == "":
		case slices.Contains(missing, want.attribute):
			return n, unregistered(want.flag, want.attribute)
		default:
			n.query += fmt.Sprintf(" AND %s = '%s'", want.attribute, want.value)
		}
	}
	if from, _ := f.from(now); !from.IsZero() {
		n.query += fmt.Sprintf(" AND StartTime >= '%s'", from.UTC().Format(time.RFC3339Nano))
	}
	var needs bool
	n.open, n.closed, needs = f.conditions(now, !slices.Contains(missing, contract.AttributeOutcome))
	if needs && slices.Contains(missing, contract.AttributeOutcome) {
		return n, unregistered("outcome", contract.AttributeOutcome)
	}
	return n, nil
}

// conditions are those for open and for closed messages, "" for none of them, and
// whether they need TgOutcome. Known is whether there is one: then a message of a
// handler says by it that its time has not come. The others are delayed by the
// server, which knows.
func (f messageFilter) conditions(now time.Time, known bool) (open, closed string, needs bool) {
	const outcome = contract.AttributeOutcome
	due := now.UTC().Format(time.RFC3339Nano)
	switch want := f.outcome.value; want {
	case "":
		return anyOpen, anyClosed, false
	case string(contract.Pending):
		open = fmt.Sprintf("%s AND ExecutionTime <= '%s'", anyOpen, due)
		if known {
			open += fmt.Sprintf(" AND (%s IS NULL OR %s != '%s')", outcome, outcome, scheduled)
		}
		return open, "", false
	case scheduled:
		open = fmt.Sprintf("%s AND ExecutionTime > '%s'", anyOpen, due)
		if known {
			open = fmt.Sprintf("%s AND (ExecutionTime > '%s' OR %s = '%s')", anyOpen, due, outcome, scheduled)
		}
		return open, "", false
	case string(contract.Dead):
		return "", "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')", false
	case string(contract.Delivered):
		return "", fmt.Sprintf("ExecutionStatus = 'Completed' AND (%s IS NULL OR %s = '%s')", outcome, outcome, contract.OutcomeDuplicate), true
	case string(contract.Cancelled):
		return "", fmt.Sprintf("(ExecutionStatus = 'Canceled' OR (%s AND %s = '%s'))", anyClosed, outcome, want), true
	default:
		return "", fmt.Sprintf("%s AND %s = '%s'", anyClosed, outcome, want), true
	}
}

package stats

import (
	"fmt"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// queries are the visibility queries about one bot.
type queries struct {
	bot int64
	// attributes is whether TgOutcome may be named: a namespace that does not know
	// it refuses the query.
	attributes bool
}

// open finds the bot's open workflows of a type.
func (q queries) open(workflow string) string {
	return q.queue() + " AND ExecutionStatus = 'Running'" + and(ofType(workflow))
}

// unhandled finds the open updates whose handler's result is not recorded.
func (q queries) unhandled() string {
	return q.open(contract.UpdateWorkflow) + and(without(contract.OutcomeHandled))
}

// deadSince finds the dead letters that were opened after a time, closed ones too.
func (q queries) deadSince(at time.Time) string {
	return q.queue() + and(ofType(contract.DeadLetterWorkflow)) + and("StartTime > "+stamp(at))
}

// waiting finds the accepted calls whose time had come at now, and that have not
// ended.
func (q queries) waiting(now time.Time) string {
	due := ofType(contract.MessageWorkflow) + and("ExecutionTime <= "+stamp(now))
	open := either(due, ofType(contract.UpdateWorkflow))
	if q.attributes {
		open = either(
			due+and(without(contract.OutcomeScheduled)),
			ofType(contract.UpdateWorkflow)+and(with(contract.OutcomeHandled)),
			ofType(contract.DeadLetterWorkflow)+and(with(contract.OutcomeReplaying)),
		)
	}
	return q.queue() + " AND ExecutionStatus = 'Running'" + and(open)
}

// waitingSince finds those of waiting that had their time before at. Dead letters
// are left out: they are older than the replay for which they wait.
func (q queries) waitingSince(at, now time.Time) string {
	return q.waiting(now) + and(fmt.Sprintf("WorkflowType != '%s'", contract.DeadLetterWorkflow)) + and("ExecutionTime <= "+stamp(at))
}

func (q queries) queue() string { return fmt.Sprintf("TaskQueue = '%s'", contract.TaskQueue(q.bot)) }

func ofType(workflow string) string { return fmt.Sprintf("WorkflowType = '%s'", workflow) }

func with(outcome string) string { return fmt.Sprintf("%s = '%s'", contract.AttributeOutcome, outcome) }

// without also finds what has no outcome yet.
func without(outcome string) string {
	return fmt.Sprintf("(%[1]s IS NULL OR %[1]s != '%[2]s')", contract.AttributeOutcome, outcome)
}

func and(clause string) string { return " AND " + clause }

func either(clauses ...string) string {
	return "((" + strings.Join(clauses, ") OR (") + "))"
}

func stamp(at time.Time) string { return "'" + at.UTC().Format(time.RFC3339Nano) + "'" }

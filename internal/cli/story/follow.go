package story

import (
	"cmp"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Follow returns the call with what became of it in its message workflow. A
// history that is not of a message leaves the call as it is.
func (c Call) Follow(s Source) Call {
	m, err := MessageOf(s)
	if err != nil {
		return c
	}
	// Before it left its update's turn it had been on its way.
	if !c.AcceptedAt.IsZero() && c.AcceptedAt.Before(m.AcceptedAt) {
		m.AcceptedAt = c.AcceptedAt
	}
	if m.State == "accepted" && c.State != "" {
		m.State, m.NextAttemptAt = c.State, c.NextAttemptAt
	}
	m.WorkflowID = cmp.Or(c.WorkflowID, m.WorkflowID)
	m.PossibleDuplicate = m.PossibleDuplicate || c.PossibleDuplicate && m.ClosedAt.IsZero()
	return m.Call
}

// ended takes the message's result.
func (c Call) ended(e *historypb.HistoryEvent) Call {
	c.State, c.NextAttemptAt, c.ClosedAt = "", time.Time{}, e.GetEventTime().AsTime()
	var res contract.CallResult
	if result(e, &res) != nil {
		// Ended from outside: nobody wrote an outcome.
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED {
			c.Outcome = contract.Cancelled
			return c
		}
		c.Outcome, c.Reason, c.Error = contract.Dead, contract.ReasonGaveUp, "its workflow "+c.WorkflowID+" was "+statuses[e.GetEventType()]
		return c
	}
	res.WorkflowID = c.WorkflowID
	c.CallResult = res
	return c
}

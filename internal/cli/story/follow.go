package story

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Follow returns the call with what became of it in its message workflow. A
// history that is not of a message leaves the call as it is.
func (c Call) Follow(s Source) Call {
	first := start(s.Events)
	var in contract.MessageInput
	if first.GetWorkflowType().GetName() != contract.MessageWorkflow || decode(first.GetInput(), 0, &in) != nil {
		return c
	}
	c.Key = in.Key
	if delay := first.GetFirstWorkflowTaskBackoff().AsDuration(); delay > 0 && len(s.Events) == 1 {
		c.State, c.NextAttemptAt = "held", s.Events[0].GetEventTime().AsTime().Add(delay)
	}
	t := newTelling(contract.UpdateInput{}, s)
	for _, e := range s.Events {
		switch {
		case e.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED:
			wait := e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration()
			c.State, c.NextAttemptAt = "held", e.GetEventTime().AsTime().Add(wait)
		case statuses[e.GetEventType()] != "":
			return c.ended(e)
		default:
			t.hear(e)
		}
	}
	t.pending(s.Pending)
	for _, made := range t.steps {
		c.State, c.NextAttemptAt, c.LastFailure = made.call.State, made.call.NextAttemptAt, made.call.LastFailure
		c.Attempts, c.Error = made.call.Attempts, made.call.Error
		c.PossibleDuplicate = c.PossibleDuplicate || made.call.PossibleDuplicate
	}
	return c
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

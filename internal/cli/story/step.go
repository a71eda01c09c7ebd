package story

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// step is one activity or message workflow that an update asked for.
type step struct {
	scheduled int64  // event id, 0 for a message workflow
	activity  string // activity ID
	kind      string // activity type
	answer    bool
	cut, more bool // the first part of a call that was cut, and a later one
	asked     contract.Call
	call      Call // of a Send
	attempts  int
	failure   *failurepb.Failure
	result    *commonpb.Payloads
	closed    time.Time
}

// asks notes which call the step makes.
func (s *step) asks(c contract.Call) {
	s.asked = c
	s.call.Method, s.call.Outcome, s.call.Key = c.Method, contract.Pending, c.Key
	if params, err := c.Object(); err == nil {
		s.call.ChatID = contract.Address(params)
	}
}

// hear takes an event of the step's activity. Attempts before the last one leave
// no event: the server counts them.
func (s *step) hear(e *historypb.HistoryEvent, at time.Time) {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		s.attempts = int(e.GetActivityTaskStartedEventAttributes().GetAttempt())
		s.call.Attempts = s.attempts
		return
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		s.result = e.GetActivityTaskCompletedEventAttributes().GetResult()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		s.failure = e.GetActivityTaskFailedEventAttributes().GetFailure()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		s.failure = e.GetActivityTaskTimedOutEventAttributes().GetFailure()
	}
	s.closed = at
	if s.kind == contract.SendActivity {
		s.sent(e.GetEventType())
	}
}

// sent concludes a call from the end of its activity, as the update's workflow does.
func (s *step) sent(end enumspb.EventType) {
	s.call.ClosedAt = s.closed
	app := innermost(s.failure).GetApplicationFailureInfo()
	switch {
	case end == enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		s.call.Outcome = contract.Cancelled
	case s.failure == nil:
		_ = decode(s.result, 0, &s.call.CallResult) // what does not decode is told without its details
	case app == nil:
		s.call.Outcome = contract.Expired
	default:
		_ = decode(app.GetDetails(), 0, &s.call.CallResult) // as above
		s.call.Outcome, s.call.Reason = concluded(app.GetType())
	}
}

// concluded is the outcome that a call's failure means.
func concluded(failure string) (contract.Outcome, contract.Reason) {
	switch failure {
	case contract.FailureUnreachable:
		return contract.Unreachable, ""
	case contract.FailureExpired, contract.FailurePaced, contract.FailureRateLimited,
		contract.FailureUnavailable, contract.FailureUnauthorized:
		return contract.Expired, ""
	case contract.FailureSuperseded:
		return contract.Superseded, ""
	case contract.FailureDropped:
		return contract.Dropped, ""
	case contract.FailureOvertaken:
		return contract.Pending, ""
	case contract.FailureRejected:
		return contract.Dead, contract.ReasonRejected
	case contract.FailureUncertain:
		return contract.Dead, contract.ReasonUncertain
	case contract.FailureMoved:
		return contract.Dead, contract.ReasonMovedTwice
	default:
		return contract.Dead, contract.ReasonGaveUp
	}
}

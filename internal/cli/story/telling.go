package story

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// telling is a story on its way through a history.
type telling struct {
	Story

	in      contract.UpdateInput
	task    time.Time // when the last workflow task began, or its last local activity ended
	decided []contract.Call
	cut     []contract.Call // the parts of a call that are to come
	fresh   bool            // none of them has been made
	steps   []*step         // the ordinary activities and the children, in the order they were asked for
	result  contract.UpdateResult
}

// hear takes the next event.
func (t *telling) hear(e *historypb.HistoryEvent) {
	at := e.GetEventTime().AsTime()
	if status, ok := statuses[e.GetEventType()]; ok {
		t.close(status, at, e)
		return
	}
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED:
		t.task = at
	case enumspb.EVENT_TYPE_MARKER_RECORDED:
		t.local(e.GetMarkerRecordedEventAttributes())
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		t.signalled(e.GetWorkflowExecutionSignaledEventAttributes().GetSignalName(), at)
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		t.scheduled(e, at)
	case enumspb.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED:
		t.wentOn(e, at)
	default:
		if s := t.step(e); s != nil {
			s.hear(e, at)
			t.noteHandled(s)
		}
	}
}

// signalled counts who waits for this update, and notes when its own wait ended.
func (t *telling) signalled(name string, at time.Time) {
	switch name {
	case contract.WakeMeSignal:
		t.WokeOthers++
	case contract.YourTurnSignal:
		if t.Turn != nil && t.Turn.Until.IsZero() {
			t.Turn.Until, t.Turn.Woken = at, true
		}
	}
}

// local takes a local activity, which leaves one marker when it has ended.
func (t *telling) local(m *historypb.MarkerRecordedEventAttributes) {
	var note struct {
		ActivityType string
		ReplayTime   time.Time
	}
	if m.GetMarkerName() != "LocalActivity" || decode(m.GetDetails()["data"], 0, &note) != nil {
		return
	}
	switch note.ActivityType {
	case "AwaitTurn":
		t.asked(m, note.ReplayTime)
	case contract.HandleActivity:
		h := t.handling(t.task)
		h.Local, h.ClosedAt, h.Attempts = true, note.ReplayTime, 1
		if m.GetFailure() != nil {
			h.fail(m.GetFailure())
			break
		}
		t.decide(m.GetDetails()["result"], h)
	case "Split":
		var parts contract.SplitResult
		_ = decode(m.GetDetails()["result"], 0, &parts) // one that failed has none
		t.cut, t.fresh = parts.Calls, true
	}
	t.task = note.ReplayTime
}

// asked takes the answer to one question for the turn. "Not yet" leaves the turn
// open until a signal or the next question.
func (t *telling) asked(m *historypb.MarkerRecordedEventAttributes, at time.Time) {
	if t.Turn == nil {
		return
	}
	t.Turn.Asked++
	var ours bool
	if decode(m.GetDetails()["result"], 0, &ours) == nil && ours {
		t.Turn.Until = at
	}
}

// scheduled takes an ordinary activity, when the workflow asked for it.
func (t *telling) scheduled(e *historypb.HistoryEvent, at time.Time) {
	a := e.GetActivityTaskScheduledEventAttributes()
	s := &step{scheduled: e.GetEventId(), activity: a.GetActivityId(), kind: a.GetActivityType().GetName()}
	s.call.AcceptedAt = at
	switch s.kind {
	case contract.HandleActivity:
		t.handling(at)
	case contract.SendActivity:
		var in contract.SendInput
		if decode(a.GetInput(), 0, &in) == nil {
			s.asks(in.Call)
			t.partOf(s)
		}
		// The handler has not been asked yet: durabot answers the press itself.
		s.answer = t.Handling == nil && t.in.CallbackID != ""
	}
	t.steps = append(t.steps, s)
}

// partOf notes whether the step makes the next part of a call that was cut.
func (t *telling) partOf(s *step) {
	if len(t.cut) == 0 || !same(t.cut[0], s.asked) {
		t.cut = nil
		return
	}
	s.cut, s.more = t.fresh, !t.fresh
	t.cut, t.fresh = t.cut[1:], false
}

// wentOn takes the start of a message workflow: of a call with a key or a time
// of its own, or of the last call, which left the turn. That of a dead letter
// says where to find what died.
func (t *telling) wentOn(e *historypb.HistoryEvent, at time.Time) {
	a := e.GetStartChildWorkflowExecutionInitiatedEventAttributes()
	if a.GetWorkflowType().GetName() == contract.DeadLetterWorkflow {
		t.DeadLetter = deadLetter(a.GetWorkflowId())
		return
	}
	var in contract.MessageInput
	if decode(a.GetInput(), 0, &in) != nil {
		return
	}
	s := &step{}
	if n := len(t.steps); in.Overtaken && n > 0 {
		s = t.steps[n-1]
		s.call.ClosedAt = time.Time{}
	} else {
		s.asks(in.Call)
		s.call.AcceptedAt = at
		t.steps = append(t.steps, s)
	}
	s.call.Outcome, s.call.Reason, s.call.Overtaken = contract.Pending, "", in.Overtaken
	s.call.WorkflowID, s.call.Key = a.GetWorkflowId(), in.Key
}

// step is the one that an activity's event belongs to, nil for other events.
func (t *telling) step(e *historypb.HistoryEvent) *step {
	of := scheduledBy(e)
	for _, s := range t.steps {
		if of != 0 && s.scheduled == of {
			return s
		}
	}
	return nil
}

// close takes the end.
func (t *telling) close(status string, at time.Time, e *historypb.HistoryEvent) {
	t.Status, t.ClosedAt = status, at
	if result(e, &t.result) != nil && status == "cancelled" {
		t.result.Outcome = contract.Cancelled
	}
	t.Outcome, t.Reason = t.result.Outcome, t.result.Reason
}

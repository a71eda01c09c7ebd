package story

import (
	"cmp"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/durabot/durabot/internal/contract"
)

// posted is a message's story on its way through a history.
type posted struct {
	*telling
	Message

	until time.Time // when the last timer that was started ends
}

// dueSlack is how far the end of a timer may be from the time that it was set
// for: it is set at the begin of a task, and started at its end.
const dueSlack = 5 * time.Second

// hear takes the next event.
func (t *posted) hear(e *historypb.HistoryEvent) {
	at := e.GetEventTime().AsTime()
	switch kind := e.GetEventType(); {
	case statuses[kind] != "":
		t.Message.Status = statuses[kind]
		t.Call = t.Call.ended(e)
	case kind == enumspb.EVENT_TYPE_TIMER_STARTED:
		t.until = at.Add(e.GetTimerStartedEventAttributes().GetStartToFireTimeout().AsDuration())
	case kind == enumspb.EVENT_TYPE_TIMER_FIRED, kind == enumspb.EVENT_TYPE_TIMER_CANCELED:
		t.until = time.Time{}
	default:
		t.telling.hear(e)
		t.Total = max(t.Total, len(t.cut))
	}
}

// tell puts together what was heard.
func (t *posted) tell(in contract.MessageInput) Message {
	m := t.Message
	m.Turn, m.DeadLetter = t.telling.Turn, t.telling.DeadLetter
	for _, p := range in.Parts {
		m.Parts = append(m.Parts, Call{CallResult: p})
	}
	for _, s := range t.steps {
		m.Parts = append(m.Parts, s.call)
	}
	m.Total = total(in, t.Total)
	if m.Status == "running" {
		m.stands(t.until)
	}
	return m
}

// total counts the parts of a message that was cut, now or in its update.
func total(in contract.MessageInput, cut int) int {
	all := max(cut, 1) + len(in.Rest) + len(in.Parts)
	if all == 1 {
		return 0
	}
	return all
}

// stands says where an open message is: at its last part, or before the first.
func (m *Message) stands(until time.Time) {
	if len(m.Parts) > 0 {
		m.together(m.Parts[0], m.Parts[1:])
		return
	}
	switch {
	case !until.IsZero() && until.Sub(m.DueAt).Abs() <= dueSlack:
		m.State, m.NextAttemptAt = "held", until
	case m.Turn != nil && m.Turn.Until.IsZero() && m.State != "held":
		m.State = "behind"
	}
}

// together tells of the message what its parts tell, and of where it stands what
// the last of them does.
func (m *Message) together(sum Call, more []Call) {
	for _, part := range more {
		sum = sum.and(part)
	}
	m.State, m.NextAttemptAt, m.LastFailure = cmp.Or(sum.State, "queued"), sum.NextAttemptAt, sum.LastFailure
	m.Attempts, m.Error, m.MovedTo = sum.Attempts, sum.Error, sum.MovedTo
	m.MessageID, m.MessageIDs = sum.MessageID, sum.MessageIDs
	m.PossibleDuplicate = m.PossibleDuplicate || sum.PossibleDuplicate
	m.Degraded = m.Degraded || sum.Degraded
}

package story

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/durabot/durabot/internal/contract"
)

// pending adds what Describe knows of activities under way.
func (t *telling) pending(all []*workflowpb.PendingActivityInfo) {
	for _, p := range all {
		for _, s := range t.steps {
			if s.activity != p.GetActivityId() || s.scheduled == 0 {
				continue
			}
			if s.kind == contract.HandleActivity {
				t.handlingPending(p)
			} else {
				s.call.pending(p)
			}
		}
	}
}

// handlingPending tells of a handler that runs, or waits to be asked again. The
// attempt that Describe counts is then the one to come.
func (t *telling) handlingPending(p *workflowpb.PendingActivityInfo) {
	h := t.Handling
	h.State, h.ClosedAt = "running", time.Time{}
	h.Attempts = h.before() + int(p.GetAttempt())
	if next := p.GetNextAttemptScheduleTime(); next != nil {
		h.State, h.NextAttemptAt = "waiting", next.AsTime()
		h.Attempts-- // the one that Describe counts is to come
	}
	if p.GetLastFailure() != nil {
		h.Error = handlerError(p.GetLastFailure())
	}
}

// pending tells where an open call stands. Its ledger, in the heartbeat, knows
// more than its last failure: whether an earlier attempt may have arrived.
func (c *Call) pending(p *workflowpb.PendingActivityInfo) {
	c.Attempts = int(p.GetAttempt())
	var ledger contract.Ledger
	if decode(p.GetHeartbeatDetails(), 0, &ledger) == nil {
		c.PossibleDuplicate, c.Degraded, c.MovedTo, c.Error = ledger.PossibleDuplicate, ledger.Degraded, id(ledger.MovedTo), ledger.Error
	}
	if f := innermost(p.GetLastFailure()); f != nil {
		c.LastFailure = f.GetApplicationFailureInfo().GetType()
		if f.GetTimeoutFailureInfo() != nil {
			c.LastFailure = "Timeout"
		}
	}
	switch {
	case p.GetNextAttemptScheduleTime() != nil:
		c.State, c.NextAttemptAt = "waiting", p.GetNextAttemptScheduleTime().AsTime()
		c.Attempts--
	case p.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED:
		c.State = "queued"
		c.Attempts--
	default:
		c.State = "under_way"
	}
}

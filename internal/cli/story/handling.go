package story

import (
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"

	"github.com/durabot/durabot/internal/contract"
)

// Handling is how the handler was asked, and how that went.
type Handling struct {
	// State is running, waiting (for another attempt), done or failed.
	State string `json:"state"`
	// Local is set when an attempt ran inside the workflow task.
	Local bool `json:"local,omitempty"`
	// Attempts counts those that left a trace, MaxAttempts is how many there may be.
	Attempts    int `json:"attempts"`
	MaxAttempts int `json:"max_attempts"`
	// Error says in words of ours how the last failed attempt ended: the
	// handler's own may quote a message. "" when none failed.
	Error string `json:"error,omitempty"`
	// StartedAt is when the handler was first asked, and ClosedAt when its answer
	// was recorded.
	StartedAt time.Time `json:"started_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	// NextAttemptAt is when it is asked again, zero unless it is waiting.
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"`
	// Decided counts the calls that it returned.
	Decided int `json:"decided"`
}

// handling is the story's, begun at this time when it is new.
func (t *telling) handling(at time.Time) *Handling {
	if t.Handling == nil {
		t.Handling = &Handling{State: "running", StartedAt: at, MaxAttempts: t.in.Handling.Attempts}
	}
	return t.Handling
}

// decide notes what the handler returned.
func (t *telling) decide(result *commonpb.Payloads, h *Handling) {
	h.State = "done"
	if decode(result, 0, &t.decided) == nil {
		h.Decided = len(t.decided)
	}
}

// noteHandled takes the end of an ordinary attempt.
func (t *telling) noteHandled(s *step) {
	if s.kind != contract.HandleActivity || s.closed.IsZero() {
		return
	}
	h := t.handling(s.call.AcceptedAt)
	h.ClosedAt = s.closed
	h.Attempts = h.before() + s.attempts
	if s.failure != nil {
		h.fail(s.failure)
		return
	}
	t.decide(s.result, h)
}

// before is how many attempts were made before the ordinary activity.
func (h *Handling) before() int {
	if h.Local {
		return 1
	}
	return 0
}

func (h *Handling) fail(f *failurepb.Failure) {
	h.State, h.Error = "failed", handlerError(f)
}

// handlerError names how an attempt failed without a word of the handler's.
func handlerError(f *failurepb.Failure) string {
	if f.GetTimeoutFailureInfo().GetTimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT {
		return "its process was gone"
	}
	if f.GetTimeoutFailureInfo() != nil {
		return "it did not return in time"
	}
	f = innermost(f)
	switch {
	case f.GetApplicationFailureInfo().GetType() != contract.FailureHandler:
		return "it could not be run"
	case strings.HasPrefix(f.GetMessage(), "handler did not return in time"):
		return "it did not return in time"
	case strings.HasPrefix(f.GetMessage(), "handler panicked"):
		return "it panicked"
	default:
		return "it returned an error"
	}
}

package story

import (
	"bytes"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// Call is one call of an update, as far as it has come.
type Call struct {
	contract.CallResult
	// Key is that of the message workflow in which the call went on, "" for none.
	Key string `json:"key,omitempty"`
	// AcceptedAt and ClosedAt bound its way; both are zero for a call that was
	// never sent, and ClosedAt while it is open.
	AcceptedAt time.Time `json:"accepted_at,omitzero"`
	ClosedAt   time.Time `json:"closed_at,omitzero"`
	// State is empty once the call has ended. Before that it is planned (others
	// come first), accepted, held (until its time), behind (another message),
	// queued, under_way or waiting (for another attempt).
	State string `json:"state,omitempty"`
	// LastFailure is the type of the last attempt's failure, such as RateLimited.
	LastFailure string `json:"last_failure,omitempty"`
	// NextAttemptAt is when a waiting or held call goes on.
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"`
	// DeadLetter is the id under which what died of it waits for a person, "" for
	// none.
	DeadLetter string `json:"dead_letter,omitempty"`
}

// settle puts what is known of the steps into the handler's order, and over it
// the workflow's own result. A call without a step has not been reached, or was
// passed over.
func (t *telling) settle() {
	t.Calls = make([]Call, 0, len(t.decided))
	next, died := 0, false
	for _, s := range t.steps {
		if s.answer {
			t.Answer = &s.call
		}
		if s.answer || s.kind == contract.HandleActivity {
			continue
		}
		if n := len(t.Calls); s.more && n > 0 {
			t.Calls[n-1] = t.Calls[n-1].and(s.call)
			died = died || s.call.Outcome == contract.Dead
			continue
		}
		for ; next < len(t.decided) && !s.makes(t.decided[next], died); next++ {
			t.Calls = append(t.Calls, unsent(t.decided[next]))
		}
		t.Calls = append(t.Calls, s.call)
		next++
		died = died || s.call.Outcome == contract.Dead
	}
	for ; next < len(t.decided); next++ {
		t.Calls = append(t.Calls, unsent(t.decided[next]))
	}
	t.overlay(t.result)
}

func unsent(c contract.Call) Call {
	s := step{call: Call{State: "planned"}}
	s.asks(c)
	return s.call
}

// makes reports whether a step makes a decided call. After a call that died only
// independent ones are made.
func (s *step) makes(decided contract.Call, died bool) bool {
	if died && !decided.Independent {
		return false
	}
	return same(decided, s.asked) || s.cut && decided.Split && decided.Method == s.asked.Method
}

func same(one, other contract.Call) bool {
	a, errA := one.Object()
	b, errB := other.Object()
	return errA == nil && errB == nil && one.Method == other.Method && bytes.Equal(a, b)
}

// overlay puts the workflow's own result over what was concluded.
func (t *telling) overlay(res contract.UpdateResult) {
	for i, c := range res.Calls {
		if i >= len(t.Calls) {
			t.Calls = append(t.Calls, Call{})
		}
		t.Calls[i].CallResult, t.Calls[i].State = c, ""
	}
	if res.Answer != nil && t.Answer != nil {
		t.Answer.CallResult = *res.Answer
	}
}

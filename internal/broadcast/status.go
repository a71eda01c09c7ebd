package broadcast

import (
	"encoding/json"
	"maps"
	"math"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// Status is where a broadcast stands.
type Status struct {
	Name  string
	State contract.BroadcastPhase
	// Total is how many recipients it has, and Pending how many have no outcome.
	Total, Pending int
	// Counts are of the others.
	Counts contract.Counts
	// RatePerS is the mean number of recipients a second since it began, without the
	// time in which it was paused, and without those that were not sent to because it
	// was cancelled; 0 before the first has an outcome.
	RatePerS float64
	// ETA is in how many seconds it will have ended at that rate, nil when nobody
	// knows.
	ETA    *int64
	Method string
	// RateLimit is that of the broadcast itself, 0 for none.
	RateLimit float64
	Paid      bool
	// Origin is the broadcast whose recipients these were, "" for none.
	Origin                           string
	AcceptedAt, At, BeganAt, EndedAt time.Time
	Actions                          []contract.BroadcastOrder
}

// outcomes are those that a recipient can have, in the words of a report.
var outcomes = []string{
	string(contract.Delivered), string(contract.Unreachable), string(contract.Expired), string(contract.Superseded),
	string(contract.Dropped), string(contract.ReasonRejected), string(contract.ReasonUncertain), string(contract.ReasonGaveUp),
	string(contract.ReasonMovedTwice), string(contract.NotSent),
}

// MarshalJSON writes the status flat: the number of each outcome bears its name, and
// is there when it is 0.
func (s Status) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for outcome, n := range s.Counts.Outcomes {
		all[outcome] = n
	}
	for _, outcome := range outcomes {
		all[outcome] = s.Counts.Outcomes[outcome]
	}
	rest := map[string]any{
		"name": s.Name, "state": s.State, "total": s.Total, "pending": s.Pending, "possible_duplicate": s.Counts.PossibleDuplicates,
		"rate_per_s": math.Round(s.RatePerS*100) / 100, "eta_s": s.ETA, "method": s.Method, "rate_limit": s.RateLimit,
		"paid": s.Paid, "origin": s.Origin, "actions": append([]contract.BroadcastOrder{}, s.Actions...),
		"accepted_at": stamp(s.AcceptedAt), "at": stamp(s.At), "began_at": stamp(s.BeganAt), "ended_at": stamp(s.EndedAt),
	}
	maps.Copy(all, rest)
	return json.Marshal(all)
}

// stamp is a time that is null when it has not come.
func stamp(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// statusOf is a status by what the broadcast shows. Counts are of its parts that
// have not ended.
func statusOf(name string, state contract.BroadcastState, open contract.Counts, now time.Time) Status {
	s := Status{
		Name: name, State: state.Phase, Total: state.Total, Method: state.Method, RateLimit: state.Rate, Paid: state.Paid, Origin: state.Origin,
		AcceptedAt: state.AcceptedAt, At: state.At, BeganAt: state.BeganAt, EndedAt: state.EndedAt, Actions: state.Actions,
	}
	s.Counts.Merge(state.Counts)
	s.Counts.Merge(open)
	done := s.Counts.Sum()
	s.Pending = max(0, s.Total-done)
	if ran := running(state, now); ran > 0 {
		s.RatePerS = float64(done-s.Counts.Outcomes[string(contract.NotSent)]) / ran.Seconds()
	}
	s.ETA = s.eta()
	return s
}

// running is how long it has been sending.
func running(state contract.BroadcastState, now time.Time) time.Duration {
	switch n := len(state.Actions); {
	case state.BeganAt.IsZero():
		return 0
	case !state.EndedAt.IsZero():
		now = state.EndedAt
	case state.Phase == contract.BroadcastPaused && n > 0:
		now = state.Actions[n-1].At
	}
	return max(0, now.Sub(state.BeganAt)-state.PausedFor)
}

func (s Status) eta() *int64 {
	rate := s.RatePerS
	if rate == 0 {
		rate = s.RateLimit
	}
	if s.State != contract.BroadcastRunning || rate == 0 {
		return nil
	}
	eta := int64(math.Ceil(float64(s.Pending) / rate))
	return &eta
}

package story

import "github.com/durabot/durabot/internal/contract"

// Outcome is how an update ended, read from the last of the events alone, so a
// source without the others will do. Both are "" for one that was ended from
// outside or is not closed.
func (s Source) Outcome() (contract.Outcome, contract.Reason) {
	if len(s.Events) == 0 {
		return "", ""
	}
	last := s.Events[len(s.Events)-1]
	var res contract.UpdateResult
	if result(last, &res) != nil && statuses[last.GetEventType()] == "cancelled" {
		return contract.Cancelled, ""
	}
	return res.Outcome, res.Reason
}

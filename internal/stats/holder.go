package stats

import (
	"maps"

	"github.com/durabot/durabot/internal/contract"
)

// tellDuty fills in what the process on duty has told.
func (n *Numbers) tellDuty() {
	h := n.Holder
	n.Paused = h.Pause
	if h.Identity == "" {
		return
	}
	n.Duty = &Duty{Holder: h.Identity, Since: h.Since, Address: h.Beat.Address}
	if h.Beat.Since.IsZero() {
		return // a new holder tells its figures within seconds
	}
	figures := h.Beat.Figures
	limiter := whole(figures.Limiter)
	n.Limiter, n.UnreachableChats, n.DeliveredLast24h = &limiter, &figures.UnreachableChats, &figures.DeliveredLast24h
}

// whole fills in what is nil, so that scripts find lists and numbers.
func whole(f contract.LimiterFigures) contract.LimiterFigures {
	waiting := map[contract.Priority]int{contract.Urgent: 0, contract.Normal: 0, contract.Bulk: 0}
	maps.Copy(waiting, f.Waiting)
	f.Waiting = waiting
	f.Penalties = append([]contract.Penalty{}, f.Penalties...)
	f.Learned = append([]contract.LearnedRate{}, f.Learned...)
	f.Held = append([]string{}, f.Held...)
	return f
}

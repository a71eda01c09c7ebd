package worker

import (
	"strconv"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker/limiter"
)

// figures are the limiter's state as operators read it.
func figures(s limiter.Stats) contract.LimiterFigures {
	f := contract.LimiterFigures{
		GlobalPerSecond: s.GlobalPerSecond, PaidPerSecond: s.PaidPerSecond, Tokens: s.Tokens, InAir: s.InAir, Held: append([]string{}, s.Held...),
		Waiting: map[contract.Priority]int{
			contract.Urgent: s.Waiting[limiter.Urgent], contract.Normal: s.Waiting[limiter.Normal], contract.Bulk: s.Waiting[limiter.Bulk],
		},
		Penalties: []contract.Penalty{}, Learned: []contract.LearnedRate{},
	}
	for _, p := range s.Penalties {
		f.Penalties = append(f.Penalties, contract.Penalty{ChatID: chatText(p.Scope.Chat), Method: p.Scope.Method, Until: p.Until})
	}
	for _, l := range s.Learned {
		f.Learned = append(f.Learned, contract.LearnedRate{ChatID: chatText(l.Chat), Share: l.Share})
	}
	return f
}

// chatText is a chat's id, "" for none.
func chatText(chat int64) string {
	if chat == 0 {
		return ""
	}
	return strconv.FormatInt(chat, 10)
}

package worker

import (
	"encoding/json"
	"time"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// count is told by the sender how a call ended.
func (t *term) count(s activities.Sent) {
	t.Metrics.Sent(s)
	if s.Outcome == contract.Delivered {
		t.sent.add(time.Now())
	}
}

// Beat is what a successor and an operator need now.
func (t *term) Beat() contract.Beat {
	beat := contract.Beat{Handover: t.handover(), Address: t.Address, Figures: contract.Figures{
		Limiter: figures(t.limiter.Stats()), UnreachableChats: t.chats.Unreachable(), DeliveredLast24h: t.sent.sum(time.Now()),
	}}
	select {
	case <-t.ended: // the last heartbeat of a term
	default:
		t.Metrics.Budget(beat.Figures)
		t.tellPenalty(beat.Figures.Limiter.Penalties)
	}
	return beat
}

func (t *term) handover() contract.Handover {
	state, err := json.Marshal(t.limiter.State())
	if err != nil {
		t.Log.ErrorContext(t.ctx, "the budget cannot be handed over", "error", err)
	}
	return contract.Handover{Limiter: state, Chats: t.chats.Recent(), Delivered: t.sent.state()}
}

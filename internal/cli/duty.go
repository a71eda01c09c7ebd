package cli

import (
	"context"
	"slices"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// holder asks who talks to Telegram for a bot, and what that process told last.
func (s *frontend) holder(ctx context.Context, bot int64) (starter.Holder, error) {
	ctx, cancel := context.WithTimeout(ctx, temporalCall)
	defer cancel()
	return starter.DutyHolder(ctx, s, bot)
}

// reported reports whether the holder's figures are known: a new one tells them
// within seconds.
func reported(h starter.Holder) bool { return h.Identity != "" && !h.Beat.Since.IsZero() }

// keeps reports whether the process on duty does what was last asked of it: to
// pause, or to send.
func keeps(h starter.Holder) bool {
	return reported(h) && slices.Contains(h.Beat.Figures.Limiter.Held, contract.HeldPaused) == (h.Pause != nil)
}

package cli

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/durabot/durabot/internal/config"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

const (
	// freePerSecond is how many messages a second Telegram asks nothing for, and
	// starPrice what it asks for another one.
	freePerSecond = 30
	starPrice     = 0.1
	// longest is what any longer time is told as.
	longest = 200 * 365 * day
)

// pace is how fast the bot sends: the rates of all that it sends, and of what it
// pays for; 0 is no limit.
type pace struct {
	free, paid float64
	// assumed is set when nobody on duty has said so.
	assumed bool
}

// pace asks the process on duty for the bot's rates.
func (s *frontend) pace(ctx context.Context, bot int64) (pace, error) {
	h, err := s.holder(ctx, bot)
	if err != nil || !reported(h) {
		usual := config.Defaults()
		return pace{free: usual.GlobalPerSecond, paid: usual.PaidPerSecond, assumed: true}, err
	}
	of := h.Beat.Figures.Limiter
	return pace{free: of.GlobalPerSecond, paid: of.PaidPerSecond}, nil
}

// perSecond is how many messages of a broadcast leave a second at most, 0 for no
// limit: a recipient of an album gets several.
func (p pace) perSecond(what contract.BroadcastCall, paid bool) float64 {
	rate, own := p.free, what.Rate*float64(itemsOf(what.Call))
	if paid {
		rate = p.paid
	}
	if own == 0 || rate == 0 {
		return cmp.Or(own, rate)
	}
	return min(own, rate)
}

// itemsOf is how many messages one recipient gets.
func itemsOf(c contract.Call) int {
	params, err := c.Object()
	if err != nil {
		return 1
	}
	return telegram.Items(c.Method, params)
}

// estimate is what so many messages cost at a rate.
type estimate struct {
	perSecond float64
	// takes is nil when nothing limits the rate.
	takes *time.Duration
	// stars is the price of what is beyond Telegram's free rate, when it is paid.
	stars int
}

// estimateOf rounds up, as people who pay or wait do.
func estimateOf(messages int, perSecond float64, paid bool) estimate {
	e := estimate{perSecond: perSecond}
	beyond := 1.0
	if perSecond > 0 {
		d := time.Duration(math.Ceil(min(float64(messages)/perSecond, longest.Seconds()))) * time.Second
		e.takes = &d
		beyond = max(0, 1-freePerSecond/perSecond)
	}
	if paid {
		e.stars = int(math.Ceil(math.Round(float64(messages)*beyond*starPrice*1000) / 1000))
	}
	return e
}

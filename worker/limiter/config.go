package limiter

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	groupBurst = 5    // calls at once to a group or channel before the even rate
	headroom   = 2    // calls above the even rate that one second of the bot may hold
	slowest    = 1e-4 // smallest rate above 0, so that no window overflows a Duration
)

// Config holds the limits of one bot. Telegram publishes them as advice (Bots
// FAQ, "My bot is hitting limits") and may change them, so all are settings;
// the zero value of a limit switches it off. Start from [DefaultConfig].
type Config struct {
	// GlobalPerSecond is the even rate of the whole bot, in calls a second.
	// Any second holds at most this, rounded up, plus two. Default 28.
	GlobalPerSecond float64
	// PaidPerSecond is the same for what Telegram is paid for, beside the free rate
	// (Bot API, allow_paid_broadcast: up to 1000 messages a second). Default 1000.
	PaidPerSecond float64
	// ChatPerSecond is the mean rate of a private chat, in calls a second.
	// Default 1.
	ChatPerSecond float64
	// ChatBurst is how many calls a private chat takes in any
	// ChatBurst/ChatPerSecond seconds. It must be at least 1 while
	// ChatPerSecond is not 0. Default 3.
	ChatBurst int
	// GroupPerMinute is how many calls a group or channel takes in any 60 s: at
	// most five at once, then one each 60/GroupPerMinute seconds. Default 20.
	GroupPerMinute int
	// InFlight is how many counted calls are in the air at once. Default 50.
	InFlight int
	// GroupCharge is how many calls each group is taken to have had at the
	// moment of New or Restore, on top of what the state says. A process that
	// follows a killed one does not know what that one sent at last and sets it;
	// one that was handed the state in order leaves it 0. Default 0.
	GroupCharge int
}

// DefaultConfig returns the limits a bot without paid broadcasts should keep.
func DefaultConfig() Config {
	return Config{GlobalPerSecond: 28, PaidPerSecond: 1000, ChatPerSecond: 1, ChatBurst: 3, GroupPerMinute: 20, InFlight: 50}
}

// Validate reports every setting that is out of range, joined in one error.
func (c Config) Validate() error {
	var errs []error
	for name, rate := range map[string]float64{"GlobalPerSecond": c.GlobalPerSecond, "PaidPerSecond": c.PaidPerSecond, "ChatPerSecond": c.ChatPerSecond} {
		if rate != 0 && !(rate >= slowest && rate <= 1e6) {
			errs = append(errs, fmt.Errorf("%s: want 0 (no limit) or %g to 1e6, got %g", name, slowest, rate))
		}
	}
	for name, n := range map[string]int{"GroupPerMinute": c.GroupPerMinute, "InFlight": c.InFlight, "GroupCharge": c.GroupCharge} {
		if n < 0 {
			errs = append(errs, fmt.Errorf("%s: want 0 or more, got %d", name, n))
		}
	}
	if c.ChatPerSecond != 0 && (c.ChatBurst < 1 || c.ChatBurst > 1000) {
		errs = append(errs, fmt.Errorf("ChatBurst: want 1 to 1000, got %d", c.ChatBurst))
	}
	return errors.Join(errs...)
}

// rule is the limit of one kind of chat: at most limit items in any window, and
// after burst items at once no more than one each step.
type rule struct {
	limit, burst int
	window, step time.Duration
}

func (c Config) privateRule() *rule {
	if c.ChatPerSecond == 0 {
		return nil
	}
	return &rule{
		limit: c.ChatBurst, burst: c.ChatBurst,
		window: seconds(float64(c.ChatBurst) / c.ChatPerSecond), step: seconds(1 / c.ChatPerSecond),
	}
}

func (c Config) groupRule() *rule {
	if c.GroupPerMinute == 0 {
		return nil
	}
	return &rule{
		limit: c.GroupPerMinute, burst: min(groupBurst, c.GroupPerMinute),
		window: time.Minute, step: seconds(60 / float64(c.GroupPerMinute)),
	}
}

// seconds rounds up, so that a rate is never exceeded by a rounding error.
func seconds(s float64) time.Duration {
	return time.Duration(math.Ceil(s * float64(time.Second)))
}

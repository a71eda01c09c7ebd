package limiter_test

import (
	"fmt"
	"math"
	"time"

	"github.com/durabot/durabot/worker/limiter"
)

// The checks below know nothing of how the limiter works: they read the log of a
// world and count every call from its grant to one window after its answer.

// counts reports whether s stands in a window of the given length at the time.
func (s *send) counts(at, window time.Duration) bool {
	return s.Counts && s.at <= at && (s.answered < 0 || at < s.answered+window)
}

// window checks that no moment holds more than limit items of the calls that
// belong; a larger call may only stand alone.
func (w *world) window(limit int, length time.Duration, belongs func(*send) bool) error {
	for i, s := range w.sends {
		items, others := 0, 0
		for j, o := range w.sends {
			if !s.Counts || !belongs(s) || !belongs(o) || j > i || !o.counts(s.at, length) {
				continue
			}
			items += o.Items
			if i != j {
				others++
			}
		}
		if items > limit && others > 0 {
			return fmt.Errorf("%d items in %v at %v, chat %d", items, length, s.at, s.Chat)
		}
	}
	return nil
}

// windows checks every window of the configuration.
func (w *world) windows(cfg limiter.Config) error {
	chats := map[int64]bool{}
	for _, s := range w.sends {
		chats[s.Chat] = true
	}
	for chat := range chats {
		limit, length := cfg.ChatBurst, time.Duration(float64(cfg.ChatBurst)/cfg.ChatPerSecond*1e9)
		if chat < 0 {
			limit, length = cfg.GroupPerMinute, time.Minute
		}
		mine := func(s *send) bool { return s.Chat == chat }
		if chat != 0 && (chat < 0 && cfg.GroupPerMinute > 0 || chat > 0 && cfg.ChatPerSecond > 0) {
			if err := w.window(limit, length, mine); err != nil {
				return err
			}
		}
		if err := w.window(0, 0, func(s *send) bool { return chat != 0 && s.Chat == chat }); err != nil {
			return fmt.Errorf("two in the air: %w", err)
		}
	}
	if cfg.GlobalPerSecond == 0 {
		return nil
	}
	return w.window(int(math.Ceil(cfg.GlobalPerSecond))+2, time.Second, func(*send) bool { return true })
}

// pace checks the even pace of the bot.
func (w *world) pace(perSecond float64) error {
	var last *send
	for _, s := range w.sends {
		if !s.Counts {
			continue
		}
		if last != nil && float64(s.at-last.at) < float64(last.Items)/perSecond*1e9 {
			return fmt.Errorf("%d items at %v, the next call at %v", last.Items, last.at, s.at)
		}
		last = s
	}
	return nil
}

// smooth checks that a group gets at most five items at once and then one each
// step, wherever between grant and answer the calls are counted.
func (w *world) smooth(step time.Duration) error {
	for i, first := range w.sends {
		items := 0
		for _, s := range w.sends[i:] {
			if s.Chat != first.Chat || s.Chat >= 0 || !s.Counts || !first.Counts || first.answered < 0 || s.Items > 5 {
				continue
			}
			items += s.Items
			if s == first {
				continue
			}
			if allowed := 5 + float64(s.at-first.answered)/float64(step); float64(items) > allowed+1e-6 {
				return fmt.Errorf("%d items to %d from %v to %v", items, s.Chat, first.answered, s.at)
			}
		}
	}
	return nil
}

func (p penalty) holds(s *send) bool {
	switch {
	case p.scope.Chat != 0:
		return s.Chat == p.scope.Chat
	case p.scope.Method != "":
		return s.Method == p.scope.Method
	}
	return true
}

// silence checks that no call went into a penalty, and that the first one after
// it went alone.
func (w *world) silence() error {
	for _, p := range w.penalties {
		var probe *send
		for _, s := range w.sends {
			if !p.holds(s) || s.at <= p.from {
				continue
			}
			if s.at < p.until {
				return fmt.Errorf("%s to %d at %v, in the penalty %+v", s.Method, s.Chat, s.at, p)
			}
			if probe != nil && (probe.answered < 0 || s.at < probe.answered) {
				return fmt.Errorf("call to %d at %v beside the probe of %+v", s.Chat, s.at, p)
			}
			if probe == nil {
				probe = s
			}
			if s.at > p.until+time.Minute {
				break // forgotten if nobody came meanwhile
			}
		}
	}
	return nil
}

// ordered checks that calls of one (chat, class) left in the order of Since.
func (w *world) ordered() error {
	type line struct {
		chat  int64
		class limiter.Class
	}
	last := map[line]*send{}
	for _, s := range w.sends {
		if !s.Counts || s.Chat == 0 {
			continue
		}
		key := line{s.Chat, s.Class}
		if before := last[key]; before != nil && s.Since.Before(before.Since) {
			return fmt.Errorf("chat %d, %v: a call of %v overtaken by one of %v", s.Chat, s.Class, s.Since.Sub(w.start), before.Since.Sub(w.start))
		}
		last[key] = s
	}
	return nil
}

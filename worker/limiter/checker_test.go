package limiter_test

import (
	"errors"
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
		chats[w.present(s.Chat)] = true
	}
	for chat := range chats {
		limit, length := cfg.ChatBurst, time.Duration(float64(cfg.ChatBurst)/cfg.ChatPerSecond*1e9)
		if chat < 0 {
			limit, length = cfg.GroupPerMinute, time.Minute
		}
		mine := func(s *send) bool { return w.present(s.Chat) == chat }
		if chat != 0 && (chat < 0 && cfg.GroupPerMinute > 0 || chat > 0 && cfg.ChatPerSecond > 0) {
			if err := w.window(limit, length, mine); err != nil {
				return err
			}
		}
		if err := w.window(0, 0, func(s *send) bool { return chat != 0 && w.present(s.Chat) == chat }); err != nil {
			return fmt.Errorf("two in the air: %w", err)
		}
	}
	for paid, rate := range map[bool]float64{false: cfg.GlobalPerSecond, true: cfg.PaidPerSecond} {
		if rate == 0 {
			continue
		}
		if err := w.window(int(math.Ceil(rate))+2, time.Second, func(s *send) bool { return s.Paid == paid }); err != nil {
			return fmt.Errorf("paid %v: %w", paid, err)
		}
	}
	return nil
}

// lateness is what the even pace lets a late call make up for.
const lateness = 10 * time.Millisecond

// paces checks every even pace but those of chats.
func (w *world) paces(cfg limiter.Config) (wrong error) {
	for paid, rate := range map[bool]float64{false: cfg.GlobalPerSecond, true: cfg.PaidPerSecond} {
		if rate > 0 {
			wrong = errors.Join(wrong, w.pace(rate, func(s *send) bool { return s.Paid == paid }))
		}
	}
	for _, flow := range flows {
		if flow.perSecond > 0 {
			wrong = errors.Join(wrong, w.pace(flow.perSecond, func(s *send) bool { return s.Flow == flow.name }))
		}
	}
	return wrong
}

// pace checks that what belongs is nowhere ahead of its even pace by more.
func (w *world) pace(perSecond float64, belongs func(*send) bool) error {
	earned := time.Duration(0) // by the calls before, since the one that is furthest ahead
	var last *send
	for _, s := range w.sends {
		if !s.Counts || !belongs(s) {
			continue
		}
		if last != nil {
			spent := time.Duration(float64(last.Items) / perSecond * 1e9)
			if earned = max(0, earned+spent-(s.at-last.at)); earned > lateness+time.Microsecond {
				return fmt.Errorf("%d items at %v, the next call at %v: %v ahead", last.Items, last.at, s.at, earned)
			}
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
			if w.present(s.Chat) != w.present(first.Chat) || s.Chat >= 0 || !s.Counts || !first.Counts || first.answered < 0 || s.Items > 5 {
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

// held checks that nothing was granted while a reason held.
func (w *world) heldBack() error {
	from := time.Duration(-1)
	for _, e := range w.events {
		switch {
		case e.what == holding && from < 0:
			from = e.at
		case e.what == released:
			from = -1
		case e.what == granted && from >= 0 && e.at > from:
			return fmt.Errorf("call to %d at %v, held since %v", e.send.Chat, e.at, from)
		}
	}
	return nil
}

// newest checks that no edit of a message followed a newer one.
func (w *world) newest() error {
	type message struct {
		chat  int64
		edits string
	}
	last := map[message]*send{}
	for _, s := range w.sends {
		key := message{w.present(s.Chat), s.Edits}
		if before := last[key]; s.Edits != "" && before != nil && s.Since.Before(before.Since) {
			return fmt.Errorf("%s in %d: version %v at %v, after version %v", s.Edits, s.Chat, s.Since.Sub(w.start), s.at, before.Since.Sub(w.start))
		}
		last[key] = s
	}
	return nil
}

type line struct {
	chat  int64
	class limiter.Class
}

// order checks that calls of one (chat, class) left in the order of Since.
type order struct {
	world  *world
	latest map[line]time.Time
	loose  map[limiter.Scope]bool // refused methods: their calls may be overtaken
	long   map[int64]bool         // if a penalty of their chat was long
	reset  time.Time              // so may what was there before
}

// ordered checks the order. A call that only its method made wait may be
// overtaken, and nobody keeps a place over a move or a hand-over.
func (w *world) ordered() error {
	o := order{world: w, latest: map[line]time.Time{}, loose: map[limiter.Scope]bool{}, long: map[int64]bool{0: true}}
	for _, e := range w.events {
		switch {
		case e.what == moved || e.what == handedOver:
			clear(o.latest)
			o.reset = w.start.Add(e.at)
		case e.what == refused:
			chat := w.present(e.scope.Chat)
			o.loose[limiter.Scope{Chat: chat, Method: e.scope.Method}] = true
			o.long[chat] = o.long[chat] || e.until-e.at > time.Minute
		case e.what == granted && e.send.Counts && e.send.Chat != 0:
			if err := o.granted(e.send); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *order) granted(s *send) error {
	key := line{s.Chat, s.Class}
	latest := o.latest[key]
	chat := o.world.present(s.Chat)
	loose := o.loose[limiter.Scope{Method: s.Method}] || o.long[chat] && o.loose[limiter.Scope{Chat: chat, Method: s.Method}]
	if s.Since.Before(latest) && s.Since.After(o.reset) && !loose {
		return fmt.Errorf("chat %d, %v: a call of %v overtaken by one of %v", s.Chat, s.Class, s.Since.Sub(o.world.start), latest.Sub(o.world.start))
	}
	if place := o.world.place(s); place.After(latest) {
		o.latest[key] = place
	}
	return nil
}

// place returns the Since of the oldest edit whose place s may have taken.
func (w *world) place(s *send) time.Time {
	place := s.Since
	for _, older := range w.ended {
		if s.Edits != "" && older.Edits == s.Edits && w.present(older.Chat) == w.present(s.Chat) && older.Since.Before(place) {
			place = older.Since
		}
	}
	return place
}

func everything(*send) bool { return true }

package limiter_test

import (
	"fmt"
	"time"

	"github.com/durabot/durabot/worker/limiter"
)

// hush is one penalty as the rules say it should be, replayed from the events of
// a world.
type hush struct {
	from, until               time.Duration
	refused                   map[string]bool
	probe                     *send
	long, confirmed, scouting bool
	again                     bool
}

type referee struct {
	world  *world
	hushes map[limiter.Scope]*hush
}

// silence checks that no call went into a penalty, but for one scout, and that
// the first one after it went alone.
func (w *world) silence() error {
	r := referee{world: w, hushes: map[limiter.Scope]*hush{}}
	for _, e := range w.events {
		switch e.what {
		case granted:
			if err := r.granted(e.send); err != nil {
				return err
			}
		case answered, cancelled:
			r.ended(e)
		case refused:
			r.refused(e)
		case handedOver:
			for _, h := range r.hushes {
				h.confirmed = h.confirmed || h.scouting
				h.probe, h.scouting, h.again = nil, false, false
			}
		default:
		}
	}
	return nil
}

// scopes lists each scope that a call belongs to once.
func (r *referee) scopes(chat int64, method string) map[limiter.Scope]bool {
	chat = r.world.present(chat)
	return map[limiter.Scope]bool{{}: true, {Chat: chat}: true, {Method: method}: true, {Chat: chat, Method: method}: true}
}

func (h *hush) lets(s *send) bool {
	return h.long && !h.confirmed && s.Counts && !s.Transient && !h.refused[s.Method]
}

func (r *referee) granted(s *send) error {
	for scope := range r.scopes(s.Chat, s.Method) {
		h := r.hushes[scope]
		switch early := h != nil && s.at < h.until; {
		case h == nil:
		case h.probe != nil:
			return fmt.Errorf("%s to %d at %v beside the probe or scout of %v", s.Method, s.Chat, s.at, scope)
		case early && !h.lets(s) && s.at > h.from: // at the same instant it may have been before
			return fmt.Errorf("%s to %d at %v, in the penalty on %v until %v", s.Method, s.Chat, s.at, scope, h.until)
		case early && !h.lets(s):
		case s.at > h.until+time.Minute:
			delete(r.hushes, scope) // forgotten if nobody came meanwhile
		default:
			h.probe, h.scouting = s, early
		}
	}
	return nil
}

func (r *referee) ended(e event) {
	for scope, h := range r.hushes {
		if h.probe != e.send {
			continue
		}
		over, scouted := e.what == answered && !h.again, h.scouting && e.at < h.until
		h.probe, h.again, h.scouting = nil, false, false
		if !over {
			continue
		}
		delete(r.hushes, scope)
		for method := range h.refused {
			if scouted {
				r.impose(limiter.Scope{Chat: scope.Chat, Method: method}, "", e.at, h.until)
			}
		}
	}
}

func (r *referee) refused(e event) {
	scope := e.scope
	scope.Chat = r.world.present(scope.Chat)
	for wider := range r.scopes(scope.Chat, scope.Method) {
		h := r.hushes[wider]
		if h != nil && h.probe != nil && r.world.present(h.probe.Chat) == scope.Chat && h.probe.Method == scope.Method {
			h.again = true
		}
	}
	if scope.Chat == 0 {
		r.impose(scope, "", e.at, e.until)
		return
	}
	r.impose(limiter.Scope{Chat: scope.Chat}, scope.Method, e.at, e.until)
}

func (r *referee) impose(scope limiter.Scope, method string, now, until time.Duration) {
	h := r.hushes[scope]
	if h == nil || h.until <= now {
		fresh := &hush{refused: map[string]bool{}}
		if h != nil {
			fresh.probe = h.probe
		}
		h = fresh
		r.hushes[scope] = h
	}
	h.from, h.until = now, max(h.until, until)
	h.again = h.probe != nil
	h.long = h.long || until-now > time.Minute
	h.confirmed = h.confirmed || h.scouting
	if scope.Chat != 0 && scope.Method == "" {
		h.refused[method] = true
		h.confirmed = h.confirmed || method == ""
	}
}

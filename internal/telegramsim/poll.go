package telegramsim

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	maxPollSeconds  = 50
	sameOffsetWait  = 3 * time.Second
	sameOffsetLimit = 500 * time.Millisecond
	conflictSpacing = 3 * time.Second

	otherPoller   = "terminated by other getUpdates request; make sure that only one bot instance is running"
	webhookActive = "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)

// poller is what the server remembers of getUpdates calls, guarded by Sim.mu.
type poller struct {
	// waiting is the only long poll there can be: a newer one ends it.
	waiting *waiter
	// lastOffset and lastStart tell a poller that asks the same again too soon.
	lastOffset int64
	lastStart  time.Time
	// nextConflict is from when on a 409 is answered without a delay.
	nextConflict time.Time
	// finished is when the last getUpdates was answered, for the state view.
	finished time.Time
}

// waiter is a long poll that found nothing yet. The answer channel holds one
// answer, so that whoever ends the poll never blocks.
type waiter struct {
	offset int64
	limit  int
	answer chan *answer
}

// getUpdates answers at once or parks the call until an update, its timeout, a
// conflict, the client's end or Close. An offset confirms before anything is
// returned (Client.cpp, do_get_updates), so a client that dies while it reads the
// answer has lost nothing but what it named itself. Only a poll that has to wait
// ends the one before it: two pollers that both find updates share the queue
// without a word.
func (s *Sim) getUpdates(ctx context.Context, c *call) *answer {
	s.mu.Lock()
	if s.hook.URL != "" {
		delay := s.conflictDelay(time.Now())
		s.mu.Unlock()
		s.pause(delay, ctx.Done())
		return conflict(webhookActive)
	}
	s.setAllowed(c.params["allowed_updates"])
	offset, limit, timeout := s.pollParams(c)
	updates := s.queue.fetch(offset, limit, time.Now())
	s.changed()
	if len(updates) > 0 || timeout == 0 {
		s.mu.Unlock()
		return updateList(updates)
	}
	s.abortPoll(conflict(otherPoller))
	w := &waiter{offset: offset, limit: limit, answer: make(chan *answer, 1)}
	s.poll.waiting = w
	s.mu.Unlock()
	return s.wait(ctx, w, timeout)
}

// wait parks a long poll. Whoever ends it first wins: an answer that was handed
// over while the timer fired is not lost.
func (s *Sim) wait(ctx context.Context, w *waiter, timeout time.Duration) *answer {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var a *answer
	select {
	case a = <-w.answer:
		return s.spaced(ctx, a)
	case <-timer.C:
		a = updateList(nil)
	case <-ctx.Done():
		a = &answer{status: http.StatusOK, gone: true}
	case <-s.done:
		a = fail(http.StatusInternalServerError, "Internal Server Error: restart")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.poll.waiting == w {
		s.poll.waiting = nil
	}
	select {
	case late := <-w.answer:
		return late
	default:
		return a
	}
}

// spaced delays a 409 that follows another one too soon.
func (s *Sim) spaced(ctx context.Context, a *answer) *answer {
	if a.status != http.StatusConflict {
		return a
	}
	s.mu.Lock()
	delay := s.conflictDelay(time.Now())
	s.mu.Unlock()
	s.pause(delay, ctx.Done())
	return a
}

// conflictDelay is 3 s for a 409 within 3 s of one that was answered at once.
// Those that were delayed do not count, so two 409s may well come together
// (Client.cpp, fail_query_conflict).
func (s *Sim) conflictDelay(now time.Time) time.Duration {
	if s.opts.NoPollRules {
		return 0
	}
	if now.Before(s.poll.nextConflict) {
		return conflictSpacing
	}
	s.poll.nextConflict = now.Add(conflictSpacing)
	return 0
}

// pollParams reads and clamps the parameters, and holds back a poller that asks
// the same again too soon (Client.cpp, process_get_updates_query).
func (s *Sim) pollParams(c *call) (offset int64, limit int, timeout time.Duration) {
	offset, _ = c.integer("offset")
	limit = 100
	if n, set := c.integer("limit"); set {
		limit = int(min(max(n, 1), 100))
	}
	seconds, _ := c.integer("timeout")
	timeout = time.Duration(min(max(seconds, 0), maxPollSeconds)) * time.Second
	now := time.Now()
	if !s.opts.NoPollRules && offset == s.poll.lastOffset && !s.poll.lastStart.IsZero() {
		since := now.Sub(s.poll.lastStart)
		if since < sameOffsetWait && timeout < sameOffsetWait {
			timeout = sameOffsetWait
		}
		if since < sameOffsetLimit {
			limit = 1
		}
	}
	s.poll.lastOffset, s.poll.lastStart = offset, now
	return offset, limit, timeout
}

// abortPoll ends the waiting long poll, if there is one, with this answer.
func (s *Sim) abortPoll(a *answer) {
	if w := s.poll.waiting; w != nil {
		s.poll.waiting = nil
		w.answer <- a
	}
}

// wakePoll answers the waiting long poll when the queue holds something for it.
// The poll's own offset is applied once more (Client.cpp, long_poll_wakeup): one
// beyond the tail confirms in advance, and swallows the updates that come first.
// The real server gathers for a millisecond or two; here the first update wakes.
func (s *Sim) wakePoll() {
	w := s.poll.waiting
	if w == nil {
		return
	}
	if updates := s.queue.fetch(w.offset, w.limit, time.Now()); len(updates) > 0 {
		s.poll.waiting = nil
		w.answer <- updateList(updates)
	}
}

// updateList joins updates byte for byte, so that garbage stays garbage.
func updateList(updates [][]byte) *answer {
	list := bytes.Join(updates, []byte(","))
	return &answer{status: http.StatusOK, result: slices.Concat([]byte("["), list, []byte("]"))}
}

// setAllowed keeps allowed_updates as the server does (Client.cpp,
// get_allowed_update_types): what is no list of texts changes nothing; an empty
// list, or one of unknown names only, means the default; unknown names among
// known ones are ignored, and case does not matter.
func (s *Sim) setAllowed(param string) {
	// A pointer tells null, which is no list, from an empty one.
	var names *[]any
	if err := json.Unmarshal([]byte(param), &names); err != nil || names == nil {
		return
	}
	var known []string
	for _, value := range *names {
		name, isText := value.(string)
		if !isText {
			return
		}
		if name = strings.ToLower(name); slices.Contains(updateKinds, name) {
			known = append(known, name)
		}
	}
	s.queue.allowed = known
}

package telegramsim

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
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

// poller is what the server remembers of getUpdates calls.
type poller struct {
	waiting      *waiter
	lastOffset   int64
	lastStart    time.Time
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
// conflict, the client's end or Close.
func (s *Sim) getUpdates(ctx context.Context, c *call) *answer {
	s.mu.Lock()
	if s.webhook != "" {
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

// spaced delays a 409 so that conflicts are at least 3 s apart.
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

// conflictDelay reserves the next moment at which a 409 may be answered.
func (s *Sim) conflictDelay(now time.Time) time.Duration {
	if s.opts.NoPollRules {
		return 0
	}
	if now.Before(s.poll.nextConflict) {
		delay := s.poll.nextConflict.Sub(now)
		s.poll.nextConflict = s.poll.nextConflict.Add(conflictSpacing)
		return delay
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

// setAllowed keeps allowed_updates as the server does: absent or unparsable
// changes nothing; an empty list, or one of unknown names only, means the
// default; unknown names among known ones are ignored.
func (s *Sim) setAllowed(param string) {
	if param == "" {
		return
	}
	var names []string
	if err := json.Unmarshal([]byte(param), &names); err != nil {
		return
	}
	var known []string
	for _, name := range names {
		if slices.Contains(updateKinds, name) {
			known = append(known, name)
		}
	}
	s.queue.allowed = known
}

package telegramsim

import (
	"time"
)

// maxRequests bounds the request log; the oldest entries leave first.
const maxRequests = 200_000

// maxMethods bounds the counters, as any word may stand in the path.
const maxMethods = 300

// handOver is how soon after a newer poll arrives an older one may still be
// open while its client is already hanging up.
const handOver = 20 * time.Millisecond

// Request is one request the simulator received, whatever became of it.
type Request struct {
	// Seq counts requests from 1.
	Seq int64
	// Arrived is when its headers were read; Answered when its answer was
	// written or given up, zero while it is open.
	Arrived  time.Time
	Answered time.Time
	// Method is the method as it stood in the path, "file" for a download.
	Method string
	// ChatID is the chat_id parameter, 0 when absent; a username is resolved.
	ChatID int64
	Params map[string]string
	Files  []File
	// Status is the HTTP status written, 0 when none was: open, cut or hung.
	Status int
	// RetryAfter is the wait of a 429 in seconds, else 0.
	RetryAfter int
	// Offset is that of getUpdates.
	Offset int64
	// Overlapped marks a getUpdates that was open together with another one. A
	// client that hung up within 20 ms of its successor's arrival is forgiven.
	Overlapped bool
	// Violation marks a counted call that arrived during a penalty its sender
	// had been told of.
	Violation bool
	// Fault is the id of the fault that hit it, else 0.
	Fault int
	// Hung marks a request whose client went away before the answer.
	Hung bool
}

// requestLog is a ring of the last maxRequests requests, guarded by Sim.mu.
type requestLog struct {
	ring[Request]
	total      int64 // of all requests, those that left the ring included
	byMethod   map[string]int64
	violations int64
	limited    int64             // 429s that were written
	polls      map[*Request]bool // getUpdates calls that are still open
}

// add enters a request when it is registered, so the order is that in which calls
// take effect rather than that of arrival.
func (l *requestLog) add(r *Request) {
	l.total++
	r.Seq = l.total
	if _, counted := l.byMethod[r.Method]; counted || len(l.byMethod) < maxMethods {
		l.byMethod[r.Method]++
	}
	l.ring.add(r, maxRequests)
}

// close notes how a request ended. Overlaps are judged at the end of each poll, when
// it is known whether its client had left: a poller that restarts leaves its old
// request behind for a moment, and that is no second poller.
func (l *requestLog) close(r *Request, status int, now time.Time) {
	r.Answered, r.Status = now, status
	if r.Violation {
		l.violations++
	}
	if status == 429 {
		l.limited++
	}
	if !l.polls[r] {
		return
	}
	delete(l.polls, r)
	for other := range l.polls {
		if r.Hung && other.Arrived.After(r.Arrived) && now.Sub(other.Arrived) < handOver {
			continue
		}
		r.Overlapped, other.Overlapped = true, true
	}
}

// Requests lists the requests received, oldest first, at most the last 200 000.
// The parameter maps are shared and must not be changed.
func (s *Sim) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.last(maxRequests)
}

// Violations counts counted calls sent during a penalty their sender knew of.
func (s *Sim) Violations() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.violations
}

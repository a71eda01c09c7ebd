package telemetry

import (
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// taskFailed is the SDK's counter of workflow tasks that ended in a panic, did
// not replay, or could not go on for another reason.
const taskFailed = "temporal_workflow_task_execution_failed"

const (
	// stuckFor is how long a task that failed counts.
	stuckFor = 2 * time.Minute
	// stuckMost is how long one counts that fails again and again: the server tries
	// it ever later, in the end every ten minutes.
	stuckMost = 12 * time.Minute
)

const stuckText = "a workflow task failed: an open workflow cannot go on with this code; " +
	"the log names it: roll back, or mend the code and start again"

// Stuck tells health of workflow tasks that fail in this process. A workflow
// whose tasks fail waits, and looks like any that waits. It hears of them by the
// SDK's metrics, and by its log of those that failed because Temporal was away:
// these fail once, and are no fault of the code.
type Stuck struct {
	health *Health

	mu       sync.Mutex
	last     time.Time // of a task that counts
	forgiven int       // logged as no fault of the code, and not counted yet
}

// NewStuck returns a Stuck that has heard nothing.
func NewStuck(health *Health) *Stuck { return &Stuck{health: health} }

// Metrics returns m with an ear on it.
func (s *Stuck) Metrics(m client.MetricsHandler) client.MetricsHandler { return listening{m, s} }

// failed takes a task that failed.
func (s *Stuck) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgiven > 0 {
		s.forgiven--
		return
	}
	now := time.Now()
	lasts := stuckFor
	if gap := now.Sub(s.last); gap < stuckMost {
		lasts = min(stuckFor+2*gap, stuckMost)
	}
	s.last = now
	s.health.DegradeUntil(PartWorkflows, stuckText, now.Add(lasts))
}

// forgive makes one task that is about to be counted not count.
func (s *Stuck) forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgiven++
}

type listening struct {
	client.MetricsHandler
	stuck *Stuck
}

// WithTags keeps the ear.
func (l listening) WithTags(tags map[string]string) client.MetricsHandler {
	return listening{l.MetricsHandler.WithTags(tags), l.stuck}
}

// Counter hears of one counter and passes all of them on.
func (l listening) Counter(name string) client.MetricsCounter {
	c := l.MetricsHandler.Counter(name)
	if name != taskFailed {
		return c
	}
	return heard{c, l.stuck}
}

type heard struct {
	client.MetricsCounter
	stuck *Stuck
}

// Inc hears of a task that failed.
func (h heard) Inc(n int64) {
	h.MetricsCounter.Inc(n)
	h.stuck.failed()
}

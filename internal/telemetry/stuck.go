package telemetry

import (
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// taskFailed is the SDK's counter of workflow tasks that ended in a panic or did
// not replay.
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

// Stuck returns m with an ear on it: health tells of workflow tasks that fail in
// this process. A workflow whose tasks fail waits, and looks like any that waits.
func Stuck(m client.MetricsHandler, health *Health) client.MetricsHandler {
	return listening{m, &stuck{health: health}}
}

type listening struct {
	client.MetricsHandler
	stuck *stuck
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
	stuck *stuck
}

// Inc hears of a task that failed.
func (h heard) Inc(n int64) {
	h.MetricsCounter.Inc(n)
	h.stuck.failed()
}

// stuck remembers when a task failed last.
type stuck struct {
	health *Health

	mu   sync.Mutex
	last time.Time
}

func (s *stuck) failed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	lasts := stuckFor
	if gap := now.Sub(s.last); gap < stuckMost {
		lasts = min(stuckFor+2*gap, stuckMost)
	}
	s.last = now
	s.health.DegradeUntil(PartWorkflows, stuckText, now.Add(lasts))
}

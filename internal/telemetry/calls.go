package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// calls are the metrics of what this process did itself.
type calls struct {
	ended      *prometheus.CounterVec
	duplicates prometheus.Counter
	waits      *prometheus.HistogramVec
	handler    prometheus.Histogram
	failures   prometheus.Counter
	heartbeats prometheus.Counter
}

func newCalls() calls {
	c := calls{
		ended:      counterVec("durabot_calls_total", "Calls that ended in this process, by method and outcome; a dead one's is its reason.", "method", "outcome"),
		duplicates: counter("durabot_possible_duplicates_total", "Calls that ended and may have arrived twice."),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "durabot_call_wait_seconds", Help: "From when a call was due to when its last request was let go, by class.",
			Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600},
		}, []string{"class"}),
		handler: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "durabot_handler_seconds", Help: "How long each run of the handler took.",
			Buckets: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60},
		}),
		failures:   counter("durabot_handler_failures_total", "Runs of the handler that brought no result."),
		heartbeats: counter("durabot_heartbeat_failures_total", "Requests to the heartbeat URL that failed."),
	}
	for _, class := range []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk} {
		c.waits.WithLabelValues(string(class))
	}
	return c
}

func (c calls) collectors() []prometheus.Collector {
	return []prometheus.Collector{c.ended, c.duplicates, c.waits, c.handler, c.failures, c.heartbeats}
}

// Sent counts a call that has ended.
func (c calls) Sent(s activities.Sent) {
	outcome := string(s.Outcome)
	if s.Outcome == contract.Dead {
		outcome = string(s.Reason)
	}
	c.ended.WithLabelValues(s.Method, outcome).Inc()
	if s.PossibleDuplicate {
		c.duplicates.Inc()
	}
	// One that was never let go has no wait; one that arrived was, perhaps at once.
	if s.Waited > 0 || s.Outcome == contract.Delivered {
		c.waits.WithLabelValues(string(s.Priority)).Observe(s.Waited.Seconds())
	}
}

// Handled counts a run of the handler.
func (c calls) Handled(took time.Duration, ok bool) {
	c.handler.Observe(took.Seconds())
	if !ok {
		c.failures.Inc()
	}
}

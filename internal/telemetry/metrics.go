package telemetry

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/durabot/durabot/starter"
)

// Metrics are the process's Prometheus metrics. No label is a chat id or a text.
type Metrics struct {
	// Registry holds them all: Go's, the process's, the Temporal SDK's and ours.
	Registry *prometheus.Registry
	// Temporal takes the Temporal SDK's own metrics into the registry.
	Temporal client.MetricsHandler

	calls

	stored      *prometheus.CounterVec
	duplicates  prometheus.Counter
	undecodable prometheus.Counter
	polls       prometheus.Counter
	posts       *prometheus.CounterVec
	limited     *prometheus.CounterVec
	duty        prometheus.Gauge
	waiting     *prometheus.GaugeVec
	penalties   prometheus.Gauge
	closed      prometheus.Gauge
}

// NewMetrics returns metrics that all start at zero.
func NewMetrics() (*Metrics, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	meter := metric.NewMeterProvider(metric.WithReader(exporter), metric.WithView(latencies())).Meter("temporal-sdk-go")
	m := &Metrics{
		Registry: registry,
		Temporal: opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
			Meter:   meter,
			OnError: func(error) {}, // the default panics; a metric is not worth the process
		}),
		calls:       newCalls(),
		stored:      counterVec("durabot_updates_stored_total", "Updates stored as new workflows.", "kind"),
		duplicates:  counter("durabot_updates_duplicate_total", "Updates delivered again and known already."),
		undecodable: counter("durabot_updates_undecodable_total", "Updates kept as failed workflows, or passed over, because they could not be read."),
		polls:       counter("durabot_polls_total", "getUpdates requests that Telegram answered."),
		posts:       counterVec("durabot_webhook_posts_total", "Posts to the webhook by what became of them.", "answer"),
	}
	for _, answer := range starter.PostAnswers() {
		m.posts.WithLabelValues(string(answer))
	}
	m.measureBudget()
	registry.MustRegister(m.stored, m.duplicates, m.undecodable, m.polls, m.posts, m.limited, m.duty, m.waiting, m.penalties, m.closed)
	registry.MustRegister(m.collectors()...)
	return m, nil
}

// latencies has the SDK's histograms counted in buckets for seconds, which they
// are in. Those they would have are for milliseconds: all would be under five.
func latencies() metric.View {
	return metric.NewView(metric.Instrument{Name: "temporal_*", Kind: metric.InstrumentKindHistogram}, metric.Stream{
		Aggregation: metric.AggregationExplicitBucketHistogram{
			Boundaries: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600},
		},
	})
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counterVec(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Stored counts an update that became a workflow. Kind is one of Telegram's or
// "" for none, so the label is bounded.
func (m *Metrics) Stored(kind string) { m.stored.WithLabelValues(kind).Inc() }

// Duplicate counts an update that was known already.
func (m *Metrics) Duplicate() { m.duplicates.Inc() }

// Undecodable counts an update that could not be read.
func (m *Metrics) Undecodable() { m.undecodable.Inc() }

// Polled counts a getUpdates that was answered.
func (m *Metrics) Polled() { m.polls.Inc() }

// Posted counts a post by its answer.
func (m *Metrics) Posted(answer starter.PostAnswer) { m.posts.WithLabelValues(string(answer)).Inc() }

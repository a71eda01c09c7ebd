package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/durabot/durabot/starter"
)

// trouble is what a part may be in. Kind is "" where the part has one trouble
// only, or none with a name.
type trouble struct {
	part Part
	kind starter.Trouble
}

// troubles are the gauges of what /readyz says.
type troubles struct {
	health *Health
	desc   *prometheus.Desc
}

// NewTroubles returns gauges of the parts that are down or degraded. Each that
// may be is always there, so that an alert can tell 0 from a process that is gone.
func NewTroubles(health *Health) prometheus.Collector {
	return &troubles{health, prometheus.NewDesc("durabot_trouble",
		"1 while a part of this process is down or degraded, by part and, for intake, by kind; else 0.", []string{"part", "kind"}, nil)}
}

// Describe sends the only one.
func (t *troubles) Describe(all chan<- *prometheus.Desc) { all <- t.desc }

// Collect asks health, which expires by itself what it was told for a time.
func (t *troubles) Collect(all chan<- prometheus.Metric) {
	values := map[trouble]float64{}
	for _, p := range Parts() {
		values[trouble{part: p}] = 0
	}
	for _, kind := range starter.Troubles() {
		values[trouble{PartIntake, kind}] = 0
	}
	for p, kind := range t.health.Unwell() {
		values[trouble{p, kind}] = 1
	}
	for of, value := range values {
		all <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, value, string(of.part), string(of.kind))
	}
}

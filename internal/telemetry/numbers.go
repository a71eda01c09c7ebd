package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/durabot/durabot/internal/stats"
)

const (
	// scrapeAge is how old the numbers of a scrape may be, so that several who
	// scrape are one question.
	scrapeAge = 5 * time.Second
	// scrapeTime is what a scrape waits for Temporal.
	scrapeTime = 2 * time.Second
)

// numbers are the gauges of what Temporal knows of the bot: every process of it
// shows the same ones.
type numbers struct {
	source                   *stats.Source
	unhandled, depth, oldest *prometheus.Desc
	broadcasts               *prometheus.Desc
	deadOpen, deadLast24h    *prometheus.Desc
}

// NewNumbers returns gauges that are asked for when they are scraped. They are
// left out of a scrape when Temporal does not answer.
func NewNumbers(source *stats.Source) prometheus.Collector {
	gauge := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return &numbers{
		source:      source,
		unhandled:   gauge("durabot_inbox_unhandled", "Open updates whose handler's result is not recorded."),
		depth:       gauge("durabot_queue_depth", "Accepted calls whose time has come and that have not ended, recipients of running broadcasts among them."),
		oldest:      gauge("durabot_oldest_pending_age_seconds", "How long the oldest of these calls has waited, broadcasts left out; 0 for none."),
		broadcasts:  gauge("durabot_broadcasts", "Broadcasts that run, neither scheduled nor paused."),
		deadOpen:    gauge("durabot_dead_open", "Dead letters that wait for a person."),
		deadLast24h: gauge("durabot_dead_last_24h", "Dead letters opened in the last 24 h."),
	}
}

// Describe sends what there may be.
func (n *numbers) Describe(all chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{n.unhandled, n.depth, n.oldest, n.broadcasts, n.deadOpen, n.deadLast24h} {
		all <- d
	}
}

// Collect asks. What the namespace cannot tell is left out.
func (n *numbers) Collect(all chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime) // a collector is given none
	defer cancel()
	now, err := n.source.Numbers(ctx, scrapeAge)
	if err != nil {
		return // health tells of Temporal
	}
	show := func(d *prometheus.Desc, value int64) {
		all <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value))
	}
	if now.InboxUnhandled != nil {
		show(n.unhandled, *now.InboxUnhandled)
	}
	show(n.depth, now.QueueDepth)
	show(n.oldest, now.OldestPendingAge)
	show(n.broadcasts, now.Broadcasts)
	show(n.deadOpen, now.DeadOpen)
	show(n.deadLast24h, now.DeadLast24h)
}

package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/durabot/durabot/internal/contract"
)

// measureBudget makes the metrics of what is sent. Each series starts at zero.
func (m *Metrics) measureBudget() {
	m.limited = counterVec("durabot_rate_limited_total", "429s of Telegram, by what they are on.", "scope")
	for _, scope := range []string{"chat", "method", "bot"} {
		m.limited.WithLabelValues(scope)
	}
	m.duty = gauge("durabot_on_duty", "1 in the process that talks to Telegram for the bot, else 0.")
	m.waiting = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "durabot_calls_waiting", Help: "Calls that wait for the budget in this process, by class.",
	}, []string{"class"})
	m.penalties = gauge("durabot_penalties", "Penalties of Telegram in force.")
	m.closed = gauge("durabot_unreachable_chats", "Chats that are known to be closed to the bot.")
	m.Budget(contract.Figures{})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// Limited counts a 429. Method "" and chat 0 stand for the whole bot.
func (m *Metrics) Limited(chat int64, method string) {
	scope := "bot"
	switch {
	case chat != 0:
		scope = "chat"
	case method != "":
		scope = "method"
	}
	m.limited.WithLabelValues(scope).Inc()
}

// OnDuty says whether this process talks to Telegram.
func (m *Metrics) OnDuty(yes bool) {
	m.duty.Set(0)
	if yes {
		m.duty.Set(1)
	}
}

// Budget shows what the holder of the duty knows; the zero value shows nothing.
func (m *Metrics) Budget(f contract.Figures) {
	for _, class := range []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk} {
		m.waiting.WithLabelValues(string(class)).Set(float64(f.Limiter.Waiting[class]))
	}
	m.penalties.Set(float64(len(f.Limiter.Penalties)))
	m.closed.Set(float64(f.UnreachableChats))
}

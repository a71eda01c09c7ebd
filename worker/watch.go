package worker

import (
	"time"

	"github.com/durabot/durabot/internal/telemetry"
	"github.com/durabot/durabot/starter"
)

// watch tells health and metrics how intake goes. Only the poller, or the
// registration of a webhook, calls it.
type watch struct {
	*telemetry.Health
	*telemetry.Metrics
	hearing *hearing
	refused func()
	trouble starter.Trouble
}

func (w *watch) Alive(until time.Time) { w.AliveUntil(until) }

// Polled counts, and looks whether enough polls have been answered by now.
func (w *watch) Polled() {
	w.Metrics.Polled()
	if w.trouble == starter.Fine {
		w.settle()
	}
}

// settle ends what is said of intake, unless most of the last polls failed.
func (w *watch) settle() {
	if text := w.hearing.trouble(); text != "" {
		w.Degrade(telemetry.PartIntake, text)
		return
	}
	w.Well(telemetry.PartIntake)
}

func (w *watch) Trouble(kind starter.Trouble, text string) {
	w.trouble = kind
	switch kind {
	case starter.Fine:
		w.settle()
	case starter.TelegramAway, starter.Limited, starter.Undelivered:
		w.DegradeBy(telemetry.PartIntake, kind, text)
	case starter.Refused:
		w.DownBy(telemetry.PartIntake, kind, string(kind)+": "+text)
		w.refused()
	default:
		w.DownBy(telemetry.PartIntake, kind, string(kind)+": "+text)
	}
}

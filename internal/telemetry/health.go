package telemetry

import (
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/durabot/durabot/starter"
)

// Part is something that can be unwell.
type Part string

// The parts of a process.
const (
	PartStart     Part = "start"     // not everything is up yet, or it is stopping
	PartTemporal  Part = "temporal"  // cannot be reached
	PartIntake    Part = "intake"    // updates do not come in
	PartTelegram  Part = "telegram"  // Telegram, or the way to it, is away
	PartToken     Part = "token"     // refused by Telegram
	PartDuty      Part = "duty"      // who talks to Telegram for the bot
	PartBudget    Part = "budget"    // nothing is sent for now
	PartPenalty   Part = "penalty"   // Telegram wants the whole bot to be silent
	PartQueue     Part = "queue"     // what waits is late
	PartWorkflows Part = "workflows" // one cannot go on
	PartWorker    Part = "worker"    // a worker gave up
	PartHTTP      Part = "http"      // this very page is going away
)

// Parts are all of them.
func Parts() []Part {
	return []Part{
		PartStart, PartTemporal, PartIntake, PartTelegram, PartToken, PartDuty,
		PartBudget, PartPenalty, PartQueue, PartWorkflows, PartWorker, PartHTTP,
	}
}

// Health is what a process knows of its own state. It never asks anybody: each
// part reports to it.
type Health struct {
	mu     sync.Mutex
	down   map[Part]string          // this process can neither take nor pass on an update
	worse  map[Part]string          // it can, but a person should look
	notes  map[Part]string          // all is well, and this is how
	kinds  map[Part]starter.Trouble // of what has several
	ends   map[Part]time.Time       // of what is said for a time
	aliveT time.Time
	now    func() time.Time
}

// NewHealth returns the health of a process that is starting: alive, not ready.
func NewHealth() *Health {
	return &Health{
		down:  map[Part]string{PartStart: "starting"},
		worse: map[Part]string{},
		notes: map[Part]string{},
		kinds: map[Part]starter.Trouble{},
		ends:  map[Part]time.Time{},
		now:   time.Now,
	}
}

// Down says that the part keeps the process from its work.
func (h *Health) Down(p Part, why string) { h.set(p, why, "", "") }

// Degrade says that the part is unwell while the work goes on.
func (h *Health) Degrade(p Part, why string) { h.set(p, "", why, "") }

// DownBy is Down by one of several troubles of the part.
func (h *Health) DownBy(p Part, kind starter.Trouble, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(p, why, "", "")
	h.kinds[p] = kind
}

// DegradeBy is Degrade by one of several troubles of the part.
func (h *Health) DegradeBy(p Part, kind starter.Trouble, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(p, "", why, "")
	h.kinds[p] = kind
}

// DegradeUntil is Degrade, taken back by itself at a time.
func (h *Health) DegradeUntil(p Part, why string, end time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(p, "", why, "")
	h.ends[p] = end
}

// Note says how the part is well.
func (h *Health) Note(p Part, how string) { h.set(p, "", "", how) }

// Well takes back what was said of the part.
func (h *Health) Well(p Part) { h.set(p, "", "", "") }

func (h *Health) set(p Part, down, worse, note string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.put(p, down, worse, note)
}

func (h *Health) put(p Part, down, worse, note string) {
	delete(h.ends, p)
	delete(h.kinds, p)
	put(h.down, p, down)
	put(h.worse, p, worse)
	put(h.notes, p, note)
}

func put(m map[Part]string, p Part, why string) {
	if why == "" {
		delete(m, p)
		return
	}
	m[p] = why
}

// AliveUntil promises another call before the given time; the zero time takes
// the promise back. A promise broken by half a minute means that the process is
// stuck.
func (h *Health) AliveUntil(t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aliveT = t
}

// Alive reports whether the promise holds. A process that has not promised
// anything yet is alive.
func (h *Health) Alive() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.aliveT.IsZero() || h.now().Before(h.aliveT.Add(30*time.Second))
}

// Ready reports whether the process can do its work, and a text for people:
// "ready", "degraded" or "not ready", with a reason or a note a line.
func (h *Health) Ready() (bool, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire()
	switch {
	case len(h.down) > 0:
		return false, "not ready\n" + lines(h.down) + lines(h.worse) + lines(h.notes)
	case len(h.worse) > 0:
		return true, "degraded\n" + lines(h.worse) + lines(h.notes)
	}
	return true, "ready\n" + lines(h.notes)
}

// Unwell are the parts that are down or degraded, each with the kind of its
// trouble, "" where there is none to tell.
func (h *Health) Unwell() map[Part]starter.Trouble {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire()
	all := map[Part]starter.Trouble{}
	for _, m := range []map[Part]string{h.down, h.worse} {
		for p := range m {
			all[p] = h.kinds[p]
		}
	}
	return all
}

// expire takes back what was said for a time that is over.
func (h *Health) expire() {
	for p, end := range h.ends {
		if !h.now().Before(end) {
			h.put(p, "", "", "")
		}
	}
}

func lines(m map[Part]string) string {
	var all []string
	for p, why := range m {
		all = append(all, string(p)+": "+why+"\n")
	}
	sort.Strings(all)
	return strings.Join(all, "")
}

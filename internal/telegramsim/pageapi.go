package telegramsim

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// pulseRequests is how many requests a pulse shows; more happen between two
// pulses only in floods, where nobody reads single lines.
const pulseRequests = 150

// pulseSeconds is how far back the rates of a pulse go.
const pulseSeconds = 60

// pulseView is the part of State that changes without an event, small enough to
// be asked for every second however many chats there are.
//
//	GET /sim/api/pulse -> {"now","polling","last_poll"?,"webhook"?,"pending","confirmed","requests","penalties",
//	                       "faults","limits","flood","rates":[{"all","limited"}],"log":[Request without params]}
//
// now is the simulator's clock, for countdowns in a browser elsewhere. rates
// counts the requests but polls, and the 429s among them, of each of the last 60
// full seconds; rates and log are oldest first.
type pulseView struct {
	Now       time.Time     `json:"now"`
	Polling   bool          `json:"polling"`
	LastPoll  *time.Time    `json:"last_poll,omitempty"`
	Webhook   string        `json:"webhook,omitempty"`
	Pending   int           `json:"pending"`
	Confirmed int64         `json:"confirmed,string"`
	Requests  countersView  `json:"requests"`
	Penalties []penaltyView `json:"penalties"`
	Faults    []faultView   `json:"faults"`
	Limits    limitsView    `json:"limits"`
	Flood     floodView     `json:"flood"`
	Rates     []rateView    `json:"rates"`
	Log       []requestView `json:"log"`
}

type rateView struct {
	All     int `json:"all"`
	Limited int `json:"limited"`
}

func (s *Sim) apiPulse(w http.ResponseWriter, _ *http.Request) {
	reply(w, s.pulseView(time.Now()))
}

func (s *Sim) pulseView(now time.Time) pulseView {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.dropExpired(now)
	v := pulseView{
		Now: now, Polling: s.poll.waiting != nil, LastPoll: optional(s.poll.finished), Webhook: s.hook.URL,
		Pending: len(s.queue.items) + len(s.queue.strays), Confirmed: s.queue.confirmed,
		Requests:  s.counters(),
		Penalties: []penaltyView{}, Faults: []faultView{}, Log: []requestView{}, Rates: s.log.rates(now),
		Limits: viewLimits(s.limits), Flood: floodView(s.floodStatus()),
	}
	for id, p := range s.penalties {
		if now.Before(p.until) {
			v.Penalties = append(v.Penalties, penaltyView{ChatID: id, Until: p.until})
		}
	}
	for _, f := range s.faults {
		v.Faults = append(v.Faults, viewFault(f))
	}
	for _, entry := range s.log.last(pulseRequests) {
		entry.Params, entry.Files = nil, nil
		v.Log = append(v.Log, viewRequest(entry))
	}
	return v
}

// rates walks back from the newest request. Requests are logged about in order
// of arrival, so one from before the span ends the walk.
func (l *requestLog) rates(now time.Time) []rateView {
	rates := make([]rateView, pulseSeconds)
	end := now.Truncate(time.Second)
	for i := range slices.Backward(l.entries) {
		r := l.at(i)
		age := end.Sub(r.Arrived)
		if age > pulseSeconds*time.Second {
			break
		}
		if age <= 0 || strings.EqualFold(r.Method, "getUpdates") {
			continue
		}
		rate := &rates[pulseSeconds-1-int((age-1)/time.Second)]
		rate.All++
		if r.Status == http.StatusTooManyRequests {
			rate.Limited++
		}
	}
	return rates
}

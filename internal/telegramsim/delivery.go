package telegramsim

import (
	"net/http"
	"time"
)

// maxDeliveries bounds the log of deliveries; the oldest entries leave first.
const maxDeliveries = 200_000

// Delivery is one try to bring an update to the webhook.
type Delivery struct {
	UpdateID int64
	// Attempt counts the deliveries of an update from 1, those of Redeliver
	// included. A restart of the simulator begins anew.
	Attempt int
	// At is when it was sent; Answered when it was answered or given up, zero while it
	// is open.
	At       time.Time
	Answered time.Time
	// Status is the HTTP status of the answer, 0 when there was none: open, refused, cut
	// or too late.
	Status int
	// URL is the webhook as it was set. Its path may be a secret.
	URL string
	// Overlapped marks a delivery that was sent while another one of the same update had
	// no answer yet: it was open, or its receiver took too long and may have been at
	// work still.
	Overlapped bool
}

// Deliveries lists what was sent to webhooks, oldest first, at most the last 200 000.
func (s *Sim) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deliveries.last(maxDeliveries)
}

// Redeliver sends an update to the webhook once more, at once and even while it is
// on its way, as happens after a timeout. The update is one that is queued or among
// the last 1000 a webhook confirmed; of several under one id it is a queued one,
// else the one confirmed last. Whatever the answer is, it confirms nothing and is
// not tried again; a call in it is run. Redeliver is false when there is no such
// update or no webhook.
func (s *Sim) Redeliver(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.queue.findID(id)
	if item == nil || s.courier == nil {
		return false
	}
	s.courier.extra = append(s.courier.extra, &outgoing{queued: *item, extra: true})
	s.courier.nudge()
	return true
}

// logDelivery enters a delivery that begins.
func (s *Sim) logDelivery(h *courier, o *outgoing, now time.Time) *Delivery {
	d := &Delivery{UpdateID: o.ID, Attempt: 1, At: now, URL: h.hook.URL}
	if kept := s.queue.find(o.serial); kept != nil {
		kept.attempts++
		d.Attempt, d.Overlapped = kept.attempts, kept.unanswered > 0
		kept.unanswered++
	}
	s.deliveries.add(d, maxDeliveries)
	return d
}

type deliveryView struct {
	UpdateID   int64      `json:"update_id,string"`
	Attempt    int        `json:"attempt"`
	At         time.Time  `json:"at"`
	Answered   *time.Time `json:"answered,omitempty"`
	Status     int        `json:"status"`
	URL        string     `json:"url"`
	Overlapped bool       `json:"overlapped,omitempty"`
}

func (s *Sim) apiDeliveries(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	list := s.deliveries.last(int(max(queryNumber(r, "limit", 100), 0)))
	s.mu.Unlock()
	views := make([]deliveryView, 0, len(list))
	for _, d := range list {
		views = append(views, deliveryView{
			UpdateID: d.UpdateID, Attempt: d.Attempt, At: d.At, Answered: optional(d.Answered), Status: d.Status,
			URL: d.URL, Overlapped: d.Overlapped,
		})
	}
	reply(w, map[string]any{"deliveries": views})
}

func (s *Sim) apiResend(w http.ResponseWriter, r *http.Request) {
	var body struct {
		UpdateID int64 `json:"update_id,string"`
	}
	if !decode(w, r, &body) {
		return
	}
	if !s.Redeliver(body.UpdateID) {
		refuse(w, http.StatusNotFound, "no such update is queued or was confirmed by a webhook lately, or no webhook is set")
		return
	}
	reply(w, struct{}{})
}

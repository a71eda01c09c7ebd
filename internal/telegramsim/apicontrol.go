package telegramsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// keepAlive is how often a quiet event stream sends a comment.
const keepAlive = 15 * time.Second

// stateView is everything a page needs to start with, in one answer: parts read
// one after the other would not fit together, nor the event they belong to.
type stateView struct {
	Bot       map[string]string `json:"bot"`
	Chats     []*chatView       `json:"chats"`
	Penalties []penaltyView     `json:"penalties"`
	Faults    []faultView       `json:"faults"`
	Limits    limitsView        `json:"limits"`
	Flood     floodView         `json:"flood"`
	EventSeq  int64             `json:"event_seq"`
	Polling   bool              `json:"polling"`
	LastPoll  *time.Time        `json:"last_poll,omitempty"`
	Webhook   string            `json:"webhook,omitempty"`
	Pending   int               `json:"pending"`
	Confirmed int64             `json:"confirmed,string"`
	Requests  countersView      `json:"requests"`
}

type penaltyView struct {
	ChatID int64     `json:"chat_id,string"`
	Until  time.Time `json:"until"`
}

type countersView struct {
	Total      int64            `json:"total"`
	Accepted   int64            `json:"accepted"`
	Limited    int64            `json:"limited"`
	Violations int64            `json:"violations"`
	Stars      float64          `json:"stars"`
	ByMethod   map[string]int64 `json:"by_method"`
}

func (s *Sim) apiState(w http.ResponseWriter, _ *http.Request) {
	reply(w, s.stateView(time.Now()))
}

func (s *Sim) stateView(now time.Time) stateView {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.dropExpired(now)
	v := stateView{
		Bot:       map[string]string{"id": strconv.FormatInt(s.botID, 10), "username": s.opts.BotName, "name": "Simulated bot"},
		Penalties: []penaltyView{}, Faults: []faultView{}, Chats: []*chatView{},
		Limits: viewLimits(s.limits), Flood: floodView(s.floodStatus()), EventSeq: s.events.last,
		Polling: s.poll.waiting != nil, LastPoll: optional(s.poll.finished), Webhook: s.hook.URL,
		Pending: len(s.queue.items) + len(s.queue.strays), Confirmed: s.queue.confirmed,
		Requests: s.counters(),
	}
	for _, id := range s.order {
		v.Chats = append(v.Chats, s.fullChat(s.chats[id], now))
	}
	for _, id := range slices.Sorted(maps.Keys(s.penalties)) {
		if p := s.penalties[id]; now.Before(p.until) {
			v.Penalties = append(v.Penalties, penaltyView{ChatID: id, Until: p.until})
		}
	}
	for _, f := range s.faults {
		v.Faults = append(v.Faults, viewFault(f))
	}
	return v
}

// counters is called with Sim.mu held.
func (s *Sim) counters() countersView {
	return countersView{
		Total: s.log.total, Accepted: s.accepted, Limited: s.log.limited, Violations: s.log.violations,
		Stars: s.starsSpent(), ByMethod: maps.Clone(s.log.byMethod),
	}
}

// fullChat adds to a chat what changes with each message. Events of type "chat" do
// not carry it: a page counts it itself, from the messages.
func (s *Sim) fullChat(ch *chat, now time.Time) *chatView {
	v := viewChat(ch.Chat)
	v.Unread = ch.unread
	if now.Before(ch.typing) {
		v.Typing = optional(ch.typing)
	}
	if len(ch.messages) > 0 {
		last := ch.messages[len(ch.messages)-1].clone()
		v.Last = viewMessage(last, s.nameOf(last.FromID))
	}
	return v
}

func (s *Sim) apiPenalise(w http.ResponseWriter, r *http.Request, id int64) {
	var body struct {
		Seconds float64 `json:"seconds"`
	}
	if decode(w, r, &body) {
		s.Penalise(id, time.Duration(body.Seconds*float64(time.Second)))
		reply(w, struct{}{})
	}
}

func (s *Sim) apiStartFlood(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Updates   int     `json:"updates"`
		Chats     int     `json:"chats"`
		PerSecond float64 `json:"per_second"`
		FirstChat int64   `json:"first_chat,string"`
	}
	if !decode(w, r, &body) {
		return
	}
	err := s.StartFlood(FloodOptions(body))
	switch {
	case errors.Is(err, errFlooding), errors.Is(err, errClosed):
		refuse(w, http.StatusConflict, err.Error())
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	reply(w, floodView(s.Flood()))
}

func (s *Sim) apiStopFlood(w http.ResponseWriter, _ *http.Request) {
	s.StopFlood()
	reply(w, floodView(s.Flood()))
}

func (s *Sim) apiAddFault(w http.ResponseWriter, r *http.Request) {
	var v faultView
	if !decode(w, r, &v) {
		return
	}
	if !slices.Contains(kinds, v.Kind) {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("kind must be one of %v", kinds))
		return
	}
	id := s.Fault(Fault{
		Method: v.Method, ChatID: v.ChatID, Nth: v.Nth, Times: v.Times, Kind: v.Kind, Status: v.Status, Body: v.Body,
		Header: v.Header, Wait: fromMillis(v.WaitMS),
	})
	reply(w, map[string]int{"id": id})
}

func (s *Sim) apiClearFaults(w http.ResponseWriter, _ *http.Request) {
	s.ClearFaults()
	reply(w, struct{}{})
}

func (s *Sim) apiRemoveFault(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("fault"))
	if err != nil || !s.RemoveFault(id) {
		refuse(w, http.StatusNotFound, "no such fault")
		return
	}
	reply(w, struct{}{})
}

func (s *Sim) apiSetLimits(w http.ResponseWriter, r *http.Request) {
	var v limitsView
	if decode(w, r, &v) {
		s.SetLimits(v.limits())
		reply(w, viewLimits(v.limits().withDefaults()))
	}
}

func (s *Sim) apiRequests(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	list := s.log.last(int(max(queryNumber(r, "limit", 100), 0)))
	s.mu.Unlock()
	views := make([]requestView, 0, len(list))
	for _, entry := range list {
		views = append(views, viewRequest(entry))
	}
	reply(w, map[string]any{"requests": views})
}

// apiEvents streams until the client goes away or the simulator is closed. It reads
// the events after a number from the log rather than being handed them, so that a
// slow page holds up nobody, and one that is too slow is told to reload.
func (s *Sim) apiEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	stream := http.NewResponseController(w)
	seq := s.resumeFrom(r)
	for {
		events, complete, next := s.since(seq)
		if !complete {
			seq = s.lastEvent()
			events = []Event{{Seq: seq, Time: time.Now(), Type: "reset"}}
		}
		if len(events) == 0 && !s.idle(w, r, next) {
			return
		}
		for _, e := range events {
			seq = e.Seq
			if !s.writeEvent(w, e) {
				return
			}
		}
		if stream.Flush() != nil {
			return
		}
	}
}

// writeEvent writes one event. It has no "event:" line, for browsers hand named
// events to named listeners only.
func (s *Sim) writeEvent(w http.ResponseWriter, e Event) bool {
	s.mu.Lock()
	view := viewEvent(e, s.nameOf)
	s.mu.Unlock()
	raw, err := json.Marshal(view)
	if err != nil {
		return false
	}
	_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, raw)
	return err == nil
}

// idle waits for the next event, sending a comment now and then. It is false
// when the stream is over.
func (s *Sim) idle(w http.ResponseWriter, r *http.Request, next <-chan struct{}) bool {
	if _, err := fmt.Fprint(w, ": ok\n\n"); err != nil || http.NewResponseController(w).Flush() != nil {
		return false
	}
	timer := time.NewTimer(keepAlive)
	defer timer.Stop()
	select {
	case <-next:
	case <-timer.C:
	case <-r.Context().Done():
		return false
	case <-s.done:
		return false
	}
	return true
}

func (s *Sim) lastEvent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events.last
}

// resumeFrom prefers the header, which a browser sends by itself when it connects
// again: the query is that of the first connection and would repeat everything.
func (s *Sim) resumeFrom(r *http.Request) int64 {
	if id, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64); err == nil {
		return id
	}
	return queryNumber(r, "after", s.lastEvent())
}

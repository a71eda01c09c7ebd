package telegramsim

import "time"

// maxEvents bounds how far back a page may resume.
const maxEvents = 10_000

// Event is one change a person looking at the simulator would want to see.
// Fields a type does not use are zero; api.go lists the types.
type Event struct {
	// Seq counts events from 1 and starts anew with each process.
	Seq  int64
	Time time.Time
	Type string
	// ChatID is 0 in a penalty of the whole bot and where there is no chat.
	ChatID    int64
	MessageID int64
	// Message is a copy as of the event: later edits do not show in it.
	Message *Message
	Chat    *Chat
	// Text is what was pressed, answered or shown as being done.
	Text  string
	Alert bool
	// Query is the id of the callback query that was answered.
	Query  string
	Method string
	// RetryAfter is in seconds.
	RetryAfter int
	Violation  bool
	// Until is the end of a penalty, zero when it was ended by hand, or of "typing".
	Until time.Time
	// Fault is the id of the fault that acted, and Kind what it did.
	Fault int
	Kind  Kind
	// Sent is how many texts a flood had sent at its end.
	Sent int
}

// eventLog is a ring of events; notify is closed and replaced by each one. It
// is guarded by Sim.mu.
type eventLog struct {
	ring   []Event // the event of a seq is at (seq-1) modulo maxEvents
	last   int64
	notify chan struct{} // closing it wakes all listeners at once, however many
}

// emit appends an event. It is called with Sim.mu held, so events have the order
// of the changes they tell of.
func (s *Sim) emit(e Event) {
	l := &s.events
	l.last++
	e.Seq, e.Time = l.last, time.Now()
	if len(l.ring) < maxEvents {
		l.ring = append(l.ring, e)
	} else {
		l.ring[(e.Seq-1)%maxEvents] = e
	}
	close(l.notify)
	l.notify = make(chan struct{})
}

// since lists the events after seq and the channel that the next one closes.
// complete is false when some of them are forgotten, or seq is from the future:
// from before a restart.
func (s *Sim) since(seq int64) (events []Event, complete bool, next <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.events
	next = l.notify
	if seq > l.last || seq < l.last-int64(len(l.ring)) {
		return nil, false, next
	}
	for n := seq + 1; n <= l.last; n++ {
		events = append(events, l.ring[(n-1)%maxEvents])
	}
	return events, true, next
}

func (s *Sim) emitMessage(kind string, m *Message) {
	c := m.clone()
	s.emit(Event{Type: kind, ChatID: m.ChatID, MessageID: m.ID, Message: &c})
}

func (s *Sim) emitChat(ch *chat) {
	c := ch.Chat
	s.emit(Event{Type: "chat", ChatID: ch.ID, Chat: &c})
}

func (s *Sim) emitPenalty(scope int64) {
	e := Event{Type: "penalty", ChatID: scope}
	if p := s.penalties[scope]; p != nil {
		e.Until = p.until
	}
	s.emit(e)
}

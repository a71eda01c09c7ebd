package telegramsim

import (
	"net/http"
	"strings"
	"time"
)

// Kind names what a fault does to a request.
type Kind string

// The kinds of faults. Those of the first group act before the request takes
// effect: nothing is recorded in the ledger. Those of the second act after it.
const (
	// FaultRefuse cuts the connection (TCP reset) without an answer. Without a
	// ChatID it does so before the body is read. A client that must see
	// "connection refused" needs a closed port instead.
	FaultRefuse Kind = "refuse"
	// FaultStatus answers with Status, Body and Header.
	FaultStatus Kind = "status"
	// FaultHang never answers. It ends when the client goes away, the faults are
	// cleared or the simulator is closed; then the connection is cut.
	FaultHang Kind = "hang"
	// FaultDelay waits Wait, then works as usual.
	FaultDelay Kind = "delay"

	// FaultReset cuts the connection (TCP reset) instead of answering. On a reused
	// connection net/http's client repeats a GET by itself; a POST it never does.
	FaultReset Kind = "reset"
	// FaultHangAfter never answers; it ends as FaultHang does.
	FaultHangAfter Kind = "hang_after"
	// FaultStatusAfter answers with Status, Body and Header instead.
	FaultStatusAfter Kind = "status_after"
	// FaultHalfBody sends half of the answer under its full Content-Length and
	// cuts the connection.
	FaultHalfBody Kind = "half_body"
	// FaultSlowBody sends the answer one byte each Wait (default 50 ms).
	FaultSlowBody Kind = "slow_body"
	// FaultGarbage answers 200 with Body (default a piece of HTML).
	FaultGarbage Kind = "garbage"
	// FaultDelayAfter answers Wait later than usual.
	FaultDelayAfter Kind = "delay_after"
)

var kinds = []Kind{
	FaultRefuse, FaultStatus, FaultHang, FaultDelay, FaultReset, FaultHangAfter, FaultStatusAfter, FaultHalfBody,
	FaultSlowBody, FaultGarbage, FaultDelayAfter,
}

// BadGateway is the page nginx in front of the Bot API shows when the server
// behind it is away. It is the default Body of FaultStatus and FaultStatusAfter.
const BadGateway = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" +
	"<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n"

// Fault is one scripted misbehaviour. Of several that match a request the one
// added first acts.
type Fault struct {
	// ID is given by Sim.Fault.
	ID int
	// Method limits it to one method, in any case; "file" is the download of a
	// file. "" is every method but getUpdates, which must be named: a poller in
	// the background would use up a fault meant for a send.
	Method string
	// ChatID limits it to one chat; 0 is any.
	ChatID int64
	// Nth is the first matching request, counted from 1, that it acts on. 0 acts
	// from the first one.
	Nth int
	// Times is how often it acts. 0 is for ever, or once when Nth is set.
	Times int
	Kind  Kind
	// Status, Body and Header are the answer of the status kinds. Defaults: 502,
	// BadGateway, and a Content-Type guessed from the body's first byte.
	Status int
	Body   string
	Header http.Header
	// Wait is the time of the delay and slow kinds.
	Wait time.Duration
}

// fault is a Fault with its counters, guarded by Sim.mu.
type fault struct {
	Fault
	seen int // requests that matched, those before Nth included
	hits int // requests it acted on
}

// Fault adds a fault and returns its id. A fault that has acted Times times is
// removed.
func (s *Sim) Fault(f Fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastFault++
	f.ID = s.lastFault
	if f.Nth > 0 && f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &fault{Fault: f})
	return f.ID
}

// ClearFaults removes all faults and ends requests that hang because of one. Those
// delayed by one are not hurried.
func (s *Sim) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	close(s.cleared)
	s.cleared = make(chan struct{})
}

// RemoveFault removes one fault and reports whether it was there. Requests that
// hang because of it go on hanging.
func (s *Sim) RemoveFault(id int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if f.ID == id {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			return true
		}
	}
	return false
}

// earlyFault finds a FaultRefuse that needs no parameters, and logs the request
// it hits. Cutting before the body is read is the one way to be sure that nothing
// of it was understood. A fault in front of the refusal that needs to know the
// chat sends the request the long way, where hit keeps their order.
func (s *Sim) earlyFault(c *call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if !f.concerns(c.method) {
			continue
		}
		if f.Kind != FaultRefuse || f.ChatID != 0 {
			return nil
		}
		if f.seen+1 < f.Nth {
			return nil
		}
		s.log.add(c.entry)
		return s.hit(c)
	}
	return nil
}

// hit counts the request against every matching fault and returns the first one
// that acts. Faults behind it count as well: "the third call" means the third
// call, whatever happened to the first two.
func (s *Sim) hit(c *call) *Fault {
	var acting *fault
	for _, f := range s.faults {
		if !f.concerns(c.method) || (f.ChatID != 0 && f.ChatID != c.entry.ChatID) {
			continue
		}
		f.seen++
		if acting == nil && f.seen >= f.Nth {
			acting = f
		}
	}
	if acting == nil {
		return nil
	}
	acting.hits++
	c.entry.Fault = acting.ID
	s.emit(Event{Type: "fault", ChatID: c.entry.ChatID, Method: c.entry.Method, Fault: acting.ID, Kind: acting.Kind})
	if acting.Times > 0 && acting.hits >= acting.Times {
		s.faults = removeFault(s.faults, acting)
	}
	return &acting.Fault
}

func (f *fault) concerns(method string) bool {
	if f.Method == "" {
		return method != "getupdates"
	}
	return strings.EqualFold(f.Method, method)
}

func removeFault(list []*fault, gone *fault) []*fault {
	var kept []*fault
	for _, f := range list {
		if f != gone {
			kept = append(kept, f)
		}
	}
	return kept
}

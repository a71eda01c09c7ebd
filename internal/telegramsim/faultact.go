package telegramsim

import (
	"cmp"
	"net"
	"net/http"
	"strings"
	"time"
)

// before does what a fault does before the request takes effect. stopped says
// that the request ends here.
func (s *Sim) before(w http.ResponseWriter, gone <-chan struct{}, f *Fault) (status int, stopped bool) {
	if f == nil {
		return 0, false
	}
	switch f.Kind {
	case FaultRefuse:
		cut(w)
		return 0, true
	case FaultStatus:
		return writeScripted(w, f, http.StatusBadGateway), true
	case FaultHang:
		s.hang(w, gone)
		return 0, true
	case FaultDelay:
		if s.pause(f.Wait, gone) {
			return 0, false
		}
		s.abandon(w)
		return 0, true
	default:
		return 0, false
	}
}

// after sends the answer, or what a fault makes of it.
func (s *Sim) after(w http.ResponseWriter, gone <-chan struct{}, f *Fault, a *answer) int {
	if f == nil {
		return write(w, a)
	}
	switch f.Kind {
	case FaultReset:
		cut(w)
		return 0
	case FaultHangAfter:
		s.hang(w, gone)
		return 0
	case FaultStatusAfter:
		return writeScripted(w, f, http.StatusBadGateway)
	case FaultGarbage:
		garbage := *f
		garbage.Body = cmp.Or(f.Body, "<!doctype html><title>Welcome</title>")
		garbage.Status = http.StatusOK
		return writeScripted(w, &garbage, http.StatusOK)
	case FaultHalfBody:
		return writeHalf(w, a)
	case FaultSlowBody:
		return s.writeSlowly(w, gone, f, a)
	case FaultDelayAfter:
		s.pause(f.Wait, gone)
	}
	return write(w, a)
}

// hang holds a request until somebody gives up. It must end in a cut: a handler that
// returns without having written is an empty 200 to net/http, which a client would
// take for an answer.
func (s *Sim) hang(w http.ResponseWriter, gone <-chan struct{}) {
	s.mu.Lock()
	cleared := s.cleared
	s.mu.Unlock()
	select {
	case <-gone:
	case <-cleared:
	case <-s.done:
	}
	cut(w)
}

// cut closes the connection with a TCP reset where the transport allows it: linger 0
// makes the kernel drop what is unsent and send RST, whereas a plain close would
// look like a polite end. Without a connection to take over, as in HTTP/2 or under
// httptest.ResponseRecorder, net/http is told to abort.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, isTCP := conn.(*net.TCPConn); isTCP {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// writeScripted sends the fault's own answer. Headers win over the guessed type.
func writeScripted(w http.ResponseWriter, f *Fault, status int) int {
	body := cmp.Or(f.Body, BadGateway)
	w.Header().Set("Content-Type", "text/html")
	if strings.HasPrefix(body, "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	status = cmp.Or(f.Status, status)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
	return status
}

// writeHalf declares the whole length; net/http closes the connection when a
// handler wrote less than it declared.
func writeHalf(w http.ResponseWriter, a *answer) int {
	body := a.body()
	a.header(w.Header(), len(body))
	w.WriteHeader(a.status)
	_, _ = w.Write(body[:len(body)/2])
	return a.status
}

// writeSlowly flushes each byte: the client's read never idles for long, yet the
// answer takes its time.
func (s *Sim) writeSlowly(w http.ResponseWriter, gone <-chan struct{}, f *Fault, a *answer) int {
	body := a.body()
	a.header(w.Header(), len(body))
	w.WriteHeader(a.status)
	flusher := http.NewResponseController(w)
	for i := range body {
		if _, err := w.Write(body[i : i+1]); err != nil {
			return a.status
		}
		_ = flusher.Flush()
		if !s.pause(cmp.Or(f.Wait, 50*time.Millisecond), gone) {
			return a.status
		}
	}
	return a.status
}

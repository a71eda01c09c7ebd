package telegramsim

import (
	"net/http"
	"strings"
	"time"
)

// downloadMethod is the name of a download in the request log and for faults. No
// method of the Bot API is called so.
const downloadMethod = "file"

// serveBot answers /bot<token>/<method>, /bot<token>/test/<method> and
// /file/bot<token>/<file_path>.
func (s *Sim) serveBot(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	path, isDownload := strings.CutPrefix(r.URL.Path, "/file")
	token, method, isBot := splitPath(path)
	if !isBot {
		write(w, fail(http.StatusNotFound, "Not Found"))
		return
	}
	filePath := method
	if isDownload {
		method = downloadMethod
	}
	c := &call{method: strings.ToLower(method), download: isDownload, entry: &Request{Arrived: arrived, Method: method}}
	if f := s.earlyFault(c); f != nil {
		s.finish(c, 0)
		cut(w)
		return
	}
	err := c.read(r)
	if isDownload {
		c.params["file_path"] = filePath
	}
	f := s.register(c)
	if err != nil {
		// The rest of the body is still on its way: the connection is of no more use.
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		s.finish(c, http.StatusRequestEntityTooLarge)
		return
	}
	s.finish(c, s.respond(w, r, c, token, f))
}

// splitPath finds the token as all up to the next slash, whatever it looks like: a
// malformed one is answered like a wrong one, with 401.
func splitPath(path string) (token, method string, isBot bool) {
	rest, isBot := strings.CutPrefix(path, "/bot")
	if !isBot {
		return "", "", false
	}
	token, method, isBot = strings.Cut(rest, "/")
	return token, strings.TrimPrefix(method, "test/"), isBot
}

// register logs the request once its parameters are known and finds its fault.
func (s *Sim) register(c *call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.method == "getupdates" {
		c.entry.Offset, _ = c.integer("offset")
		s.log.polls[c.entry] = true
	}
	s.enter(c)
	return s.hit(c)
}

// enter logs a call under the lock.
func (s *Sim) enter(c *call) {
	c.entry.Params, c.entry.Files = c.params, c.files
	c.entry.ChatID = s.chatID(c.params["chat_id"])
	s.log.add(c.entry)
}

// respond runs the call with its fault and returns the status that was written,
// 0 when none was.
func (s *Sim) respond(w http.ResponseWriter, r *http.Request, c *call, token string, f *Fault) int {
	gone := r.Context().Done()
	if status, stopped := s.before(w, gone, f); stopped {
		return status
	}
	a := s.authorised(token)
	if a == nil {
		a = s.perform(r.Context(), c)
	}
	s.keep(gone)
	if c.method != "getupdates" && !s.pause(s.opts.Latency, gone) {
		a.gone = true
	}
	s.mu.Lock()
	c.entry.Hung = r.Context().Err() != nil
	c.entry.RetryAfter = a.retryAfter
	s.mu.Unlock()
	if a.gone || r.Context().Err() != nil {
		s.abandon(w)
		return 0
	}
	return s.after(w, gone, f, a)
}

// abandon ends a request without an answer. When the client is still there,
// because the simulator is closing, its connection is cut: net/http would send
// an empty 200.
func (s *Sim) abandon(w http.ResponseWriter) {
	select {
	case <-s.done:
		cut(w)
	default:
	}
}

// authorised compares the token as a whole; nil means it is the right one.
func (s *Sim) authorised(token string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.revoked || token != s.token:
		return fail(http.StatusUnauthorized, "Unauthorized")
	case s.loggedOut:
		return fail(http.StatusBadRequest, "Logged out")
	}
	return nil
}

// finish closes the log entry. A penalty counts as known from here on: its 429 has
// been written, though the client may not have read it yet, see tellGrace.
func (s *Sim) finish(c *call, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.log.close(c.entry, status, now)
	if c.penalty != nil && c.penalty.told.IsZero() {
		c.penalty.told = now
	}
	if c.method == "getupdates" {
		s.poll.finished = now
	}
}

// write sends an answer whole. A broken connection is the client's affair: what
// the call did stays done.
func write(w http.ResponseWriter, a *answer) int {
	body := a.body()
	a.header(w.Header(), len(body))
	w.WriteHeader(a.status)
	_, _ = w.Write(body)
	return a.status
}

package telegramsim

import (
	"maps"
	"time"
)

const queryTooOld = "query is too old and response timeout expired or query ID is invalid"

func (s *Sim) me() map[string]any {
	u := maps.Clone(s.botUser())
	u["can_join_groups"], u["can_read_all_group_messages"], u["supports_inline_queries"] = true, false, false
	return u
}

// logOut makes every further call 400 "Logged out", without a "Bad Request: " in
// front, until SetToken: the real cloud takes the token back after ten minutes.
func (s *Sim) logOut(*call) *answer {
	s.loggedOut = true
	return ok(true)
}

// dropPending is the one way besides an offset to lose updates on purpose. They
// count as confirmed: a judge of lost updates must not blame the poller.
func (s *Sim) dropPending(c *call) {
	if c.flag("drop_pending_updates") {
		s.queue.strays = nil
		s.queue.forget(s.queue.next)
	}
	s.changed()
}

// answerCallback takes one answer per query within 150 s of the press. That is how
// long the open server keeps the update (Client.cpp, add_new_callback_query); the
// real window for the answer is not public. A second answer gets the text of a
// late one, as Telegram does not tell the two apart.
func (s *Sim) answerCallback(c *call) *answer {
	id := c.params["callback_query_id"]
	q, known := s.queries[id]
	if !known || q.Answered || time.Since(q.At) > callbackLife {
		return badRequest(queryTooOld)
	}
	q.Answered = true
	s.queries[id] = q
	s.emit(Event{Type: "answer", Text: c.params["text"], Alert: c.flag("show_alert"), Query: id})
	s.changed()
	return ok(true)
}

func (s *Sim) getChat(c *call) *answer {
	ch, a := s.readable(c)
	if a != nil {
		return a
	}
	return ok(ch.object())
}

// getChatMember calls everybody a member. Rights are not simulated.
func (s *Sim) getChatMember(c *call) *answer {
	if _, a := s.readable(c); a != nil {
		return a
	}
	id, _ := c.integer("user_id")
	user := s.user(id)
	if id == s.botID {
		user = s.botUser()
	}
	return ok(map[string]any{"user": user, "status": "member"})
}

package telegramsim

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// pathChat reads the chat id of the path, and answers 400 when it is none.
func pathChat(w http.ResponseWriter, r *http.Request) (int64, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		refuse(w, http.StatusBadRequest, "chat id is not a number")
		return 0, false
	}
	return id, true
}

// apiMessages pages backwards: the newest of those before a message id. Ids rather
// than offsets, so that messages that arrive meanwhile shift no page.
func (s *Sim) apiMessages(w http.ResponseWriter, r *http.Request) {
	id, valid := pathChat(w, r)
	if !valid {
		return
	}
	if !s.knows(id) {
		refuse(w, http.StatusNotFound, "no such chat")
		return
	}
	list := s.Messages(id)
	if before := queryNumber(r, "before", 0); before > 0 {
		n := 0
		for n < len(list) && list[n].ID < before {
			n++
		}
		list = list[:n]
	}
	reply(w, map[string]any{"messages": s.viewMessages(list, queryNumber(r, "limit", 200))})
}

func (s *Sim) apiLedger(w http.ResponseWriter, r *http.Request) {
	list := s.Ledger(queryNumber(r, "chat_id", 0))
	reply(w, map[string]any{"messages": s.viewMessages(list, queryNumber(r, "limit", 1000))})
}

// viewMessages shows the newest of a list.
func (s *Sim) viewMessages(list []Message, limit int64) []*messageView {
	list = list[max(0, len(list)-int(max(limit, 0))):]
	views := make([]*messageView, 0, len(list))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range list {
		views = append(views, viewMessage(m, s.nameOf(m.FromID)))
	}
	return views
}

// nameOf is a sender's name for people. It is called with Sim.mu held. A member of
// a group may never have had a private chat, and then has no name but the id.
func (s *Sim) nameOf(id int64) string {
	if id == s.botID {
		return s.opts.BotName
	}
	if ch := s.chats[id]; ch != nil {
		return ch.Name
	}
	return "User " + strconv.FormatInt(id, 10)
}

func (s *Sim) knows(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chats[id] != nil
}

func (s *Sim) apiCreateChat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		ID       int64  `json:"id,string"`
		Type     string `json:"type"`
		Title    string `json:"title"`
		Name     string `json:"name"`
		Username string `json:"username"`
	}
	if !decode(w, r, &body) {
		return
	}
	c := s.CreateChat(Chat{ID: body.ID, Type: body.Type, Title: body.Title, Name: body.Name, Username: body.Username})
	reply(w, viewChat(c))
}

// chatActions are the parts of /sim/api/chats/{id}/{action}.
var chatActions = map[string]func(*Sim, http.ResponseWriter, *http.Request, int64){
	"send":       (*Sim).apiSend,
	"press":      (*Sim).apiPress,
	"penalise":   (*Sim).apiPenalise,
	"migrate":    (*Sim).apiMigrate,
	"read":       (*Sim).apiRead,
	"block":      becoming((*Sim).Block),
	"unblock":    becoming((*Sim).Unblock),
	"kick":       becoming((*Sim).Kick),
	"deactivate": becoming((*Sim).Deactivate),
}

func (s *Sim) apiChatAction(w http.ResponseWriter, r *http.Request) {
	id, valid := pathChat(w, r)
	if !valid {
		return
	}
	act, known := chatActions[r.PathValue("action")]
	if !known {
		refuse(w, http.StatusNotFound, "no such action")
		return
	}
	act(s, w, r, id)
}

// becoming is an action that changes a chat's state. Chats nobody knows are a 404
// here, although the Go methods would make them: a typing error in a URL should
// not add a chat to the page.
func becoming(change func(*Sim, int64)) func(*Sim, http.ResponseWriter, *http.Request, int64) {
	return func(s *Sim, w http.ResponseWriter, _ *http.Request, id int64) {
		if !s.knows(id) {
			refuse(w, http.StatusNotFound, "no such chat")
			return
		}
		change(s, id)
		s.mu.Lock()
		defer s.mu.Unlock()
		reply(w, viewChat(s.chats[id].Chat))
	}
}

func (s *Sim) apiSend(w http.ResponseWriter, r *http.Request, id int64) {
	var body struct {
		Text   string `json:"text"`
		FromID int64  `json:"from_id,string"`
	}
	if !decode(w, r, &body) {
		return
	}
	if id == 0 || body.Text == "" {
		refuse(w, http.StatusBadRequest, "a chat id and a text are needed")
		return
	}
	replyUpdate(w, s.SendTextFrom(id, body.FromID, body.Text))
}

func (s *Sim) apiPress(w http.ResponseWriter, r *http.Request, id int64) {
	var body struct {
		MessageID int64  `json:"message_id,string"`
		Data      string `json:"data"`
	}
	if decode(w, r, &body) {
		replyUpdate(w, s.PressButton(id, body.MessageID, body.Data))
	}
}

func (s *Sim) apiPush(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if decode(w, r, &raw) {
		replyUpdate(w, s.Push(raw))
	}
}

func replyUpdate(w http.ResponseWriter, id int64) {
	reply(w, map[string]string{"update_id": strconv.FormatInt(id, 10)})
}

// apiMigrate checks what Migrate itself, called by tests, takes on trust: it would
// make a chat of any id, and a person cannot become a supergroup.
func (s *Sim) apiMigrate(w http.ResponseWriter, _ *http.Request, id int64) {
	if id >= 0 || typeOf(id) != "group" || !s.knows(id) {
		refuse(w, http.StatusBadRequest, "only a known basic group can migrate")
		return
	}
	reply(w, map[string]string{"id": strconv.FormatInt(s.Migrate(id), 10)})
}

func (s *Sim) apiRead(w http.ResponseWriter, _ *http.Request, id int64) {
	s.mu.Lock()
	if ch := s.chats[id]; ch != nil {
		ch.unread = 0
	}
	s.mu.Unlock()
	reply(w, struct{}{})
}

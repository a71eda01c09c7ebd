package telegramsim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// The views are the JSON shapes that api.go documents. Ids are text, because a
// browser reads JSON numbers as floats and would round those above 2^53. Pointers
// stand for what is left out: an absent time is not the year 1.

type chatView struct {
	ID       int64        `json:"id,string"`
	Type     string       `json:"type"`
	Title    string       `json:"title"`
	Username string       `json:"username,omitempty"`
	State    ChatState    `json:"state"`
	MovedTo  int64        `json:"moved_to,string,omitempty"`
	Unread   int          `json:"unread"`
	Typing   *time.Time   `json:"typing_until,omitempty"`
	Last     *messageView `json:"last,omitempty"`
}

type messageView struct {
	Seq      int64             `json:"seq"`
	ID       int64             `json:"id,string"`
	ChatID   int64             `json:"chat_id,string"`
	FromID   int64             `json:"from_id,string"`
	FromName string            `json:"from_name"`
	FromBot  bool              `json:"from_bot"`
	Method   string            `json:"method,omitempty"`
	Text     string            `json:"text"`
	Entities []Entity          `json:"entities,omitempty"`
	ReplyTo  int64             `json:"reply_to,string,omitempty"`
	Album    string            `json:"album,omitempty"`
	Markup   json.RawMessage   `json:"markup,omitempty"`
	Params   map[string]string `json:"params,omitempty"`
	Files    []fileView        `json:"files,omitempty"`
	FileID   string            `json:"file_id,omitempty"`
	UpdateID int64             `json:"update_id,string"`
	Service  map[string]any    `json:"service,omitempty"`
	Time     time.Time         `json:"time"`
	Edited   []editView        `json:"edited,omitempty"`
	Deleted  *time.Time        `json:"deleted,omitempty"`
}

type fileView struct {
	Field string `json:"field"`
	Name  string `json:"name"`
	Size  int64  `json:"size"`
}

type editView struct {
	Time time.Time `json:"time"`
	Text string    `json:"text"`
}

type faultView struct {
	ID     int         `json:"id"`
	Method string      `json:"method"`
	ChatID int64       `json:"chat_id,string"`
	Nth    int         `json:"nth"`
	Times  int         `json:"times"`
	Kind   Kind        `json:"kind"`
	Status int         `json:"status"`
	Body   string      `json:"body"`
	Header http.Header `json:"header,omitempty"`
	WaitMS int64       `json:"wait_ms"`
	Hits   int         `json:"hits"`
}

type limitsView struct {
	PerChat       int     `json:"per_chat"`
	PerChatMS     int64   `json:"per_chat_ms"`
	PerGroup      int     `json:"per_group"`
	PerGroupMS    int64   `json:"per_group_ms"`
	Global        int     `json:"global"`
	GlobalMS      int64   `json:"global_ms"`
	PaidPerSecond int     `json:"paid_per_second"`
	Off           bool    `json:"off"`
	AlbumAsOne    bool    `json:"album_as_one"`
	UTF16         bool    `json:"utf16"`
	PenaltyFactor float64 `json:"penalty_factor"`
	MaxPenaltyMS  int64   `json:"max_penalty_ms"`
}

type requestView struct {
	Seq        int64             `json:"seq"`
	Arrived    time.Time         `json:"arrived"`
	Answered   *time.Time        `json:"answered,omitempty"`
	Method     string            `json:"method"`
	ChatID     int64             `json:"chat_id,string,omitempty"`
	Params     map[string]string `json:"params,omitempty"`
	Files      []fileView        `json:"files,omitempty"`
	Status     int               `json:"status"`
	RetryAfter int               `json:"retry_after,omitempty"`
	Offset     int64             `json:"offset,string,omitempty"`
	Overlapped bool              `json:"overlapped,omitempty"`
	Violation  bool              `json:"violation,omitempty"`
	Fault      int               `json:"fault,omitempty"`
	Hung       bool              `json:"hung,omitempty"`
}

type floodView struct {
	Running bool `json:"running"`
	Sent    int  `json:"sent"`
	Updates int  `json:"updates"`
}

type eventView struct {
	Seq        int64        `json:"seq"`
	Time       time.Time    `json:"time"`
	Type       string       `json:"type"`
	ChatID     string       `json:"chat_id,omitempty"`
	MessageID  int64        `json:"message_id,string,omitempty"`
	Message    *messageView `json:"message,omitempty"`
	Chat       *chatView    `json:"chat,omitempty"`
	Text       string       `json:"text,omitempty"`
	Alert      bool         `json:"alert,omitempty"`
	Query      string       `json:"query,omitempty"`
	Method     string       `json:"method,omitempty"`
	RetryAfter int          `json:"retry_after,omitempty"`
	Violation  bool         `json:"violation,omitempty"`
	Until      *time.Time   `json:"until,omitempty"`
	Fault      int          `json:"fault,omitempty"`
	Kind       Kind         `json:"kind,omitempty"`
	Sent       int          `json:"sent,omitempty"`
}

func viewEvent(e Event, name func(int64) string) eventView {
	v := eventView{
		Seq: e.Seq, Time: e.Time, Type: e.Type, MessageID: e.MessageID, Text: e.Text, Alert: e.Alert, Query: e.Query,
		Method: e.Method, RetryAfter: e.RetryAfter, Violation: e.Violation, Until: optional(e.Until), Fault: e.Fault,
		Kind: e.Kind, Sent: e.Sent,
	}
	if e.ChatID != 0 || e.Type == "penalty" {
		v.ChatID = strconv.FormatInt(e.ChatID, 10)
	}
	if e.Message != nil {
		v.MessageID = 0
		v.Message = viewMessage(*e.Message, name(e.Message.FromID))
	}
	if e.Chat != nil {
		v.Chat = viewChat(*e.Chat)
	}
	return v
}

func viewMessage(m Message, from string) *messageView {
	v := &messageView{
		Seq: m.Seq, ID: m.ID, ChatID: m.ChatID, FromID: m.FromID, FromName: from, FromBot: m.FromBot, Method: m.Method,
		Text: m.Text, Entities: m.Entities, ReplyTo: m.ReplyTo, Album: m.Album, Markup: m.Markup, Params: m.Params,
		Files: viewFiles(m.Files), FileID: m.FileID, UpdateID: m.UpdateID,
		Service: m.Service, Time: m.Time, Deleted: optional(m.Deleted),
	}
	for _, e := range m.Edits {
		v.Edited = append(v.Edited, editView(e))
	}
	return v
}

func viewChat(c Chat) *chatView {
	v := &chatView{ID: c.ID, Type: c.Type, Title: c.Title, Username: c.Username, State: c.State, MovedTo: c.MovedTo}
	if c.Type == "private" {
		v.Title = c.Name
	}
	return v
}

func viewFiles(files []File) []fileView {
	var list []fileView
	for _, f := range files {
		list = append(list, fileView(f))
	}
	return list
}

func viewRequest(r Request) requestView {
	return requestView{
		Seq: r.Seq, Arrived: r.Arrived, Answered: optional(r.Answered), Method: r.Method, ChatID: r.ChatID, Params: r.Params,
		Files: viewFiles(r.Files), Status: r.Status, RetryAfter: r.RetryAfter, Offset: r.Offset, Overlapped: r.Overlapped,
		Violation: r.Violation, Fault: r.Fault, Hung: r.Hung,
	}
}

func viewFault(f *fault) faultView {
	return faultView{
		ID: f.ID, Method: f.Method, ChatID: f.ChatID, Nth: f.Nth, Times: f.Times, Kind: f.Kind, Status: f.Status,
		Body: f.Body, Header: f.Header, WaitMS: millis(f.Wait), Hits: f.hits,
	}
}

func viewLimits(l Limits) limitsView {
	return limitsView{
		PerChat: l.PerChat, PerChatMS: millis(l.PerChatWindow), PerGroup: l.PerGroup, PerGroupMS: millis(l.PerGroupWindow),
		Global: l.Global, GlobalMS: millis(l.GlobalWindow), PaidPerSecond: l.PaidPerSecond, Off: l.Off, AlbumAsOne: l.AlbumAsOne, UTF16: l.UTF16,
		PenaltyFactor: l.PenaltyFactor, MaxPenaltyMS: millis(l.MaxPenalty),
	}
}

func (v limitsView) limits() Limits {
	return Limits{
		PerChat: v.PerChat, PerChatWindow: fromMillis(v.PerChatMS), PerGroup: v.PerGroup, PerGroupWindow: fromMillis(v.PerGroupMS),
		Global: v.Global, GlobalWindow: fromMillis(v.GlobalMS), PaidPerSecond: v.PaidPerSecond, Off: v.Off, AlbumAsOne: v.AlbumAsOne, UTF16: v.UTF16,
		PenaltyFactor: v.PenaltyFactor, MaxPenalty: fromMillis(v.MaxPenaltyMS),
	}
}

func optional(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

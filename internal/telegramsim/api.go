package telegramsim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// The admin API under /sim/api speaks JSON, without authentication: the server
// must listen on loopback only. Ids of chats, users, messages and updates are
// decimal strings, times are RFC 3339 with fractions, absent values are left
// out. Errors are {"error": "..."} with status 400, 404 or 409.
//
//	GET    /sim/api/state                      -> State
//	GET    /sim/api/chats/{id}/messages        -> {"messages":[Message]} oldest first; ?limit=200 newest, ?before=MESSAGE_ID
//	POST   /sim/api/chats                      {"id"?,"type"?,"title"?,"name"?,"username"?} -> Chat
//	POST   /sim/api/chats/{id}/send            {"text","from_id"?} -> {"update_id"} ("0": not queued)
//	POST   /sim/api/chats/{id}/press           {"message_id","data"} -> {"update_id"}
//	POST   /sim/api/chats/{id}/read            -> {} sets unread to 0
//	POST   /sim/api/chats/{id}/block | unblock | kick | deactivate -> Chat
//	POST   /sim/api/chats/{id}/migrate         -> {"id": new id}; groups only
//	POST   /sim/api/chats/{id}/penalise        {"seconds"} -> {}; chat 0 is the whole bot, seconds 0 ends it
//	POST   /sim/api/updates                    any update object -> {"update_id"}
//	POST   /sim/api/flood                      {"updates","chats"?,"per_second"?,"first_chat"?} -> Flood; 409 while one runs
//	DELETE /sim/api/flood                      -> Flood; stops it
//	POST   /sim/api/faults                     Fault without id -> {"id": number}
//	DELETE /sim/api/faults                     -> {}; DELETE /sim/api/faults/{id} removes one
//	POST   /sim/api/limits                     Limits (absent fields: defaults) -> Limits
//	GET    /sim/api/requests?limit=100         -> {"requests":[Request]} oldest first
//	GET    /sim/api/ledger?chat_id=&limit=1000 -> {"messages":[Message]} the bot's messages, oldest first
//	GET    /sim/api/deliveries?limit=100       -> {"deliveries":[Delivery]} to webhooks, oldest first
//	POST   /sim/api/webhook/resend             {"update_id"} -> {}; delivers it once more, see Sim.Redeliver
//	GET    /sim/api/events?after=SEQ           -> Server-Sent Events
//
// State: {"bot":{"id","username","name"}, "chats":[Chat], "penalties":[{"chat_id" ("0" = bot),"until"}],
// "faults":[Fault], "limits":Limits, "flood":Flood, "event_seq": number,
// "polling": is a long poll waiting, "last_poll"?: time, "webhook"?: url, "pending": number, "confirmed": update id,
// "requests":{"total","accepted" (messages of the bot),"limited","violations","stars" (spent on paid broadcasts): numbers,"by_method":{name: number}}}
//
// Chat: {"id","type" (private|group|supergroup|channel),"title" (a person's name in private chats),"username"?,
// "state" (open|blocked|deactivated|never_started|kicked|migrated),"moved_to"?,"unread": number,"typing_until"?,
// "last"?: Message}
//
// Message: {"seq": number,"id","chat_id","from_id","from_name","from_bot": bool,"method"?,"text" (without markup),
// "entities"?:[MessageEntity of the Bot API],"reply_to"?,"album"?,"markup"?: reply markup object,"params"?: {name: text},"files"?:[{"field","name","size"}],"file_id"?,"update_id" ("0": none),
// "service"?: object,"time","edited"?:[{"time","text"}],"deleted"?: time}
//
// Fault: {"id","method","chat_id","nth","times","kind","status","body","header":{name:[value]},"wait_ms","hits"};
// see the Go type Fault for their meaning and defaults.
//
// Limits: {"per_chat","per_chat_ms","per_group","per_group_ms","global","global_ms","paid_per_second","off","album_as_one","utf16",
// "penalty_factor","max_penalty_ms"}
//
// Request: {"seq","arrived","answered"?,"method","chat_id"?,"params"?,"files"?,"status","retry_after"?,"offset"?,
// "overlapped"?,"violation"?,"fault"?,"hung"?}
//
// Delivery: {"update_id","attempt","at","answered"?,"status" (0: no answer),"url","overlapped"?}
//
// Flood: {"running","sent","updates"}
//
// Events. Each has "id: SEQ", no "event:" line and data
// {"seq","time","type","chat_id"?,...}. Types and further fields:
//
//	message  "message": Message     the bot's message was accepted
//	edited   "message": Message     as it is now
//	deleted  "message": Message
//	user     "message": Message     a user wrote, or a service message
//	press    "message_id","text"    a button was pressed; text is its data
//	answer   "query","text"?,"alert"? a press was answered
//	typing   "text","until"         chat action; it ends at until or with the next message
//	chat     "chat": Chat           created or changed; without last, unread, typing_until
//	rate_limited "method","retry_after","violation"?  a 429 was answered
//	penalty  "until"?               chat_id "0" is the bot; without until it ended by hand
//	fault    "fault": id,"kind","method"
//	flood    "sent"                 a flood ended
//	reset                           the page must reload State and Messages: it missed events, or the simulator restarted
//
// A page reads State, then follows events after State's event_seq. The browser's
// own Last-Event-ID header wins over ?after; without either, events start now.
// A comment line is sent every 15 s to keep the connection alive.
func (s *Sim) mountAPI(mux *http.ServeMux) {
	mux.HandleFunc("GET /sim/api/state", s.apiState)
	mux.HandleFunc("GET /sim/api/chats/{id}/messages", s.apiMessages)
	mux.HandleFunc("POST /sim/api/chats", s.apiCreateChat)
	mux.HandleFunc("POST /sim/api/chats/{id}/{action}", s.apiChatAction)
	mux.HandleFunc("POST /sim/api/updates", s.apiPush)
	mux.HandleFunc("POST /sim/api/flood", s.apiStartFlood)
	mux.HandleFunc("DELETE /sim/api/flood", s.apiStopFlood)
	mux.HandleFunc("POST /sim/api/faults", s.apiAddFault)
	mux.HandleFunc("DELETE /sim/api/faults", s.apiClearFaults)
	mux.HandleFunc("DELETE /sim/api/faults/{fault}", s.apiRemoveFault)
	mux.HandleFunc("POST /sim/api/limits", s.apiSetLimits)
	mux.HandleFunc("GET /sim/api/requests", s.apiRequests)
	mux.HandleFunc("GET /sim/api/ledger", s.apiLedger)
	mux.HandleFunc("GET /sim/api/deliveries", s.apiDeliveries)
	mux.HandleFunc("POST /sim/api/webhook/resend", s.apiResend)
	mux.HandleFunc("GET /sim/api/events", s.apiEvents)
	mux.HandleFunc("/sim/api/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "no such resource")
	})
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": reason})
}

// decode reads a JSON body, and answers 400 when it is none. An empty body
// leaves the value as it is.
func decode(w http.ResponseWriter, r *http.Request, value any) bool {
	if r.ContentLength == 0 {
		return true
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxParams)).Decode(value); err != nil {
		refuse(w, http.StatusBadRequest, "body is not the expected JSON: "+err.Error())
		return false
	}
	return true
}

// queryNumber reads a number of the query string, or its default.
func queryNumber(r *http.Request, name string, value int64) int64 {
	if n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64); err == nil {
		return n
	}
	return value
}

func millis(d time.Duration) int64 { return d.Milliseconds() }

func fromMillis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

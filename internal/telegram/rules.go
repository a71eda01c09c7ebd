package telegram

import (
	"slices"
	"strings"
)

// rule gives a class to a code and a piece of its description. Case and any
// "Bad Request: " in front do not matter.
type rule struct {
	code    int      // 0: any
	text    string   // part of the description, in lower case
	class   Class    // what it means
	only    []string // methods it is limited to, in lower case; nil: all
	limited bool     // only with a RetryAfter
}

func (r rule) matches(e *Error, method string) bool {
	if r.code != 0 && r.code != e.code() {
		return false
	}
	if r.limited && e.RetryAfter == 0 {
		return false
	}
	if r.only != nil && !slices.Contains(r.only, strings.ToLower(method)) {
		return false
	}
	return strings.Contains(strings.ToLower(e.Description), r.text)
}

var (
	joinRequests = []string{"approvechatjoinrequest", "declinechatjoinrequest"}
	leaving      = []string{"leavechat"}
	batches      = []string{"sendmediagroup", "copymessages", "forwardmessages"}
)

// rules are tried from the top: what names a cause comes before what could be
// part of many texts. Texts are those of tdlib/telegram-bot-api Client.cpp and of
// TDLib, raw server names in capitals included.
var rules = []rule{
	// The bot as a whole.
	{code: 400, text: "logged out", class: Unauthorized},
	{code: 0, text: "frozen_method_invalid", class: Unauthorized},

	// A batch of which a part was sent. It comes before the limits: the text of
	// the limit is quoted inside.
	{code: 400, text: "failed to send message #", class: Unknown},
	{code: 400, text: "too many requests", class: Unknown, only: batches},

	// It quotes what the user wrote, which could be any of the texts below.
	{code: 400, text: "can't parse", class: Rejected},
	{code: 400, text: "too many requests: retry after", class: RateLimited, limited: true},

	// It is so already.
	{code: 500, text: "sent message was immediately deleted", class: Delivered},
	{code: 400, text: "message is not modified", class: Delivered},
	{code: 400, text: "chat description is not modified", class: Delivered},
	{code: 400, text: "chat_not_modified", class: Delivered},
	{code: 400, text: "message to delete not found", class: Delivered},
	{code: 400, text: "message to unpin not found", class: Delivered},
	{code: 400, text: "poll has already been closed", class: Delivered},
	{code: 400, text: "bot has already been closed", class: Delivered},
	{code: 400, text: "hide_requester_missing", class: Delivered, only: joinRequests},
	{code: 400, text: "user_already_participant", class: Delivered, only: joinRequests},
	{code: 403, text: "not a member of the", class: Delivered, only: leaving},

	// Too late.
	{code: 400, text: "query is too old", class: Expired},
	{code: 400, text: "query_id_invalid", class: Expired},

	// The chat is gone or closed to us. Rights within a chat are not here: the
	// chat still takes other messages.
	{code: 403, text: "bot was blocked by the user", class: Unreachable},
	{code: 403, text: "user is deactivated", class: Unreachable},
	{code: 403, text: "can't initiate conversation", class: Unreachable},
	{code: 403, text: "bot was kicked from the", class: Unreachable},
	{code: 403, text: "bot is not a member of the", class: Unreachable},
	{code: 403, text: "group chat was deleted", class: Unreachable},
	{code: 403, text: "peer_id_invalid", class: Unreachable},
	{code: 400, text: "chat not found", class: Unreachable},
	{code: 400, text: "peer_id_invalid", class: Unreachable},
	{code: 400, text: "group is deactivated", class: Unreachable},
	{code: 400, text: "channel_private", class: Unreachable},
	{code: 400, text: "channel_invalid", class: Unreachable},

	// A 400 that a later try may not meet. Nothing was sent.
	{code: 400, text: "wrong file_id or the file is temporarily unavailable", class: Unavailable},
	{code: 400, text: "failed to get http url content", class: Unavailable},
	{code: 400, text: "webpage_curl_failed", class: Unavailable},
	{code: 400, text: "can't upload file by url", class: Unavailable},
	{code: 400, text: "wrong type of the web page content", class: Unavailable},
	{code: 400, text: "group send failed", class: Unavailable},
	{code: 400, text: "file_reference_", class: Unavailable},
	{code: 400, text: "too many requests", class: Unavailable},
	{code: 400, text: "timeout", class: Unavailable},
	{code: 400, text: "internal", class: Unavailable},
	{code: 400, text: "rpc_call_fail", class: Unavailable},
	{code: 400, text: "worker_busy", class: Unavailable},
}

// bare says that a 404 does not tell what was not found. One that does, such as
// "Not Found: method not found", is about the call and not about the token.
func bare(description string) bool {
	return description == "" || strings.EqualFold(description, "not found")
}

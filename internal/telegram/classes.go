package telegram

import (
	"errors"
	"fmt"
	"net/http"
)

// Class is what the end of a call means for the caller. The zero Class is none
// of them, so a forgotten assignment never reads as success.
type Class int

// The classes, and what a caller does with each.
const (
	// Delivered: the call took effect, or what it asked for was so already.
	Delivered Class = iota + 1
	// RateLimited: wait Error.RetryAfter, or a floor when that is 0. Not a failure.
	RateLimited
	// Unavailable: it did not take effect or may safely be repeated. Back off.
	Unavailable
	// Unknown: it may have taken effect, and repeating it may double it.
	Unknown
	// Unreachable: the chat is gone or closed to the bot. Mark it.
	Unreachable
	// Moved: send to Error.MigrateToChatID from now on.
	Moved
	// Expired: the query can no longer be answered, or already was. Drop it.
	Expired
	// Unauthorized: the token, or the bot's account, is of no use. Stop the bot.
	Unauthorized
	// NotFound: a bare 404, which is a bad token or a wrong address. Confirm with
	// Client.Me before stopping anything.
	NotFound
	// Conflict: another poller or a webhook takes the updates. See ConflictKind.
	Conflict
	// Rejected: Telegram, or this package, refuses the call for good.
	Rejected
)

var classNames = [...]string{
	"invalid", "delivered", "rate_limited", "unavailable", "unknown", "unreachable", "moved", "expired",
	"unauthorized", "not_found", "conflict", "rejected",
}

// String is a fixed lower-case word, fit for a metric label.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("class(%d)", int(c))
	}
	return classNames[c]
}

// Classify says what err, as Client.Call returned it for method, means. It looks
// at status, parameters and description together, since Telegram uses one code
// for many things: a 400 can be a success, a 403 an ordinary mistake.
//
// An error that is no *Error says nothing about the wire and counts as an answer
// that was lost.
func Classify(err error, method string) Class {
	if err == nil {
		return Delivered
	}
	var file *FileError
	if errors.As(err, &file) || errors.Is(err, ErrInvalidCall) {
		return Rejected
	}
	var e *Error
	switch {
	case !errors.As(err, &e):
		return lost(method)
	case e.Status == 0 && !e.Written:
		return Unavailable
	case e.MigrateToChatID != 0:
		return Moved
	case e.Status == 0:
		return lost(method)
	}
	for _, r := range rules {
		if r.matches(e, method) {
			return r.class
		}
	}
	return byCode(e, method)
}

// byCode is for answers that no rule knows.
func byCode(e *Error, method string) Class {
	code := e.code()
	switch {
	case code == http.StatusTooManyRequests:
		return RateLimited
	case code == http.StatusUnauthorized, code == http.StatusMisdirectedRequest:
		return Unauthorized
	case code == http.StatusConflict:
		return Conflict
	case code == http.StatusNotFound && bare(e.Description):
		return NotFound
	case code == http.StatusRequestTimeout:
		return Unavailable // the gateway never had the whole request
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported:
		return Rejected // the HTTP reader of the Bot API server refused the request
	case code == http.StatusRequestEntityTooLarge:
		return Rejected
	case code < 400, code >= 500:
		return lost(method)
	case e.cut():
		return cutRefusal(method)
	default:
		return Rejected
	}
}

// cutRefusal is a 4xx whose text broke off. It was refused, so repeating it is
// safe and brings the text, unless a part of a batch went through.
func cutRefusal(method string) Class {
	if isMulti(method) {
		return Unknown
	}
	return Unavailable
}

// lost is for a request that went out and brought no answer one can read.
func lost(method string) Class {
	if Lookup(method).Repeatable {
		return Unavailable
	}
	return Unknown
}

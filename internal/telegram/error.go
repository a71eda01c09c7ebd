package telegram

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// ErrNotAnswer is the cause when a whole body arrived and is not what the Bot API
// answers: an HTML page, nothing at all, or JSON of another shape. With a 2xx
// status it usually means a captive portal or a gateway.
var ErrNotAnswer = errors.New("not a Bot API answer")

// ErrInvalidCall is the cause when a call cannot be put into a request: a method
// name that is not a word, params that are not a JSON object, a broken file
// reference. Nothing was sent and repeating cannot help.
var ErrInvalidCall = errors.New("invalid call")

// Error is every error that Client returns. Its texts are redacted and safe to
// store or show; match on the fields or use [Classify], never on Error().
type Error struct {
	// Method is the Bot API method as the caller spelled it, or "download".
	Method string
	// Status is the HTTP status, 0 when no answer came.
	Status int
	// Code is error_code from the body, 0 when the body had none that makes
	// sense. It normally equals Status; where it differs it is Telegram's word
	// against that of a gateway.
	Code int
	// Description is Telegram's text without the token, at most 1000 characters,
	// empty when the body was not a Bot API answer.
	Description string
	// RetryAfter is how long Telegram asks to wait, rounded up to whole seconds
	// and kept within 0 and 14 days. 0 means none was given, not "at once": the
	// caller applies a floor.
	RetryAfter time.Duration
	// MigrateToChatID is the supergroup a basic group became, 0 otherwise.
	MigrateToChatID int64
	// Written says whether Telegram may have seen the request. It is false only
	// when no byte of it can have left: refused, DNS, TLS, proxy, a fault in the
	// call itself.
	Written bool
	// Err is the cause without the URL that net/http puts around it, nil when
	// Telegram answered properly. errors.Is and errors.As reach timeouts,
	// context.Canceled, net.Error and system errors through it.
	Err error

	body string // start of a body that was not an answer, for people only
}

// Error names the method, the status, and the description or the first 200
// characters of the body. It holds neither URL nor token.
func (e *Error) Error() string {
	parts := []string{"telegram", e.Method}
	if e.Status != 0 {
		parts = append(parts, "status "+strconv.Itoa(e.Status))
	}
	if text := e.text(); text != "" {
		parts = append(parts, text)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) text() string {
	if e.Description != "" {
		return e.Description
	}
	return e.body
}

// code is the number to classify by.
func (e *Error) code() int {
	if e.Code != 0 {
		return e.Code
	}
	return e.Status
}

// cut says that the connection or its JSON broke in the middle of the answer.
func (e *Error) cut() bool {
	return e.Status != 0 && e.Err != nil && !errors.Is(e.Err, ErrNotAnswer)
}

package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const (
	maxDescription = 1000
	maxExcerpt     = 200
)

var waitText = regexp.MustCompile(`(?i)retry after ([0-9]+(?:\.[0-9]+)?)`)

// answer is what a server gave back, read completely.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// result returns the raw result of a good answer, or what the answer says is
// wrong. Exactly one of the two is set, whatever the bytes.
func (a answer) result(method string, token Token) (json.RawMessage, *Error) {
	var fields map[string]json.RawMessage
	parseErr := json.Unmarshal(a.body, &fields)
	ok := string(fields["ok"])
	if ok == "true" && len(fields["result"]) > 0 && a.status/100 == 2 {
		return fields["result"], nil
	}
	e := &Error{Method: method, Status: a.status, Written: true}
	e.RetryAfter = headerWait(a.header)
	if parseErr != nil || ok != "false" {
		e.Err = bodyFault(parseErr)
		e.body = token.scrub(string(a.body), maxExcerpt)
		return nil, e
	}
	e.fill(fields, token)
	return nil, e
}

// fill copies what {"ok":false,...} says. Each field is read on its own: one of
// an odd type must not cost the others.
func (e *Error) fill(fields map[string]json.RawMessage, token Token) {
	var text string
	if json.Unmarshal(fields["description"], &text) == nil {
		e.Description = token.scrub(text, maxDescription)
	}
	if code := integer(fields["error_code"]); code >= 100 && code < 600 {
		e.Code = int(code)
	}
	var parameters map[string]json.RawMessage
	if json.Unmarshal(fields["parameters"], &parameters) == nil {
		e.MigrateToChatID = integer(parameters["migrate_to_chat_id"])
	}
	if wait := seconds(number(parameters["retry_after"])); wait > 0 {
		e.RetryAfter = wait
	} else if wait := e.waitFromText(); wait > 0 {
		e.RetryAfter = wait
	}
}

// waitFromText reads "retry after N", which is all there is when a flood error
// is wrapped into another one. Other descriptions may quote a user's text.
func (e *Error) waitFromText() time.Duration {
	if e.code() != http.StatusTooManyRequests && !containsFold(e.Description, "too many requests") {
		return 0
	}
	match := waitText.FindStringSubmatch(e.Description)
	if match == nil {
		return 0
	}
	return seconds(match[1])
}

// headerWait reads Retry-After, which is a number of seconds or a date. A date is
// taken relative to the server's own clock.
func headerWait(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if wait := seconds(value); wait > 0 {
		return wait
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return clampWait(at.Sub(now).Seconds())
}

// bodyFault tells a JSON answer that was cut off from something that never was one.
func bodyFault(parseErr error) error {
	var syntax *json.SyntaxError
	if errors.As(parseErr, &syntax) && strings.Contains(syntax.Error(), "unexpected end") && syntax.Offset > 0 {
		return fmt.Errorf("read answer: %w", io.ErrUnexpectedEOF)
	}
	return ErrNotAnswer
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

package telegram

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// cause takes the URL and the token out of an error. It drops every *url.Error,
// whose text is the URL. Where any deeper layer still shows a secret, the whole
// chain is replaced by its redacted text, which keeps answering errors.Is.
func (t Token) cause(err error) error {
	for {
		var outer *url.Error
		if !errors.As(err, &outer) {
			break
		}
		err = outer.Err
	}
	if t.clean(err) {
		return err
	}
	return newHiddenError(t.scrub(err.Error(), maxDescription), err)
}

// clean walks the whole tree of err, branches of errors.Join included, because
// errors.As does so too.
func (t Token) clean(err error) bool {
	if err == nil {
		return true
	}
	text := err.Error()
	if t.Redact(text) != text || userInfo.MatchString(text) {
		return false
	}
	switch wrapper := err.(type) { //nolint:errorlint // it looks at one layer on purpose
	case interface{ Unwrap() error }:
		return t.clean(wrapper.Unwrap())
	case interface{ Unwrap() []error }:
		for _, branch := range wrapper.Unwrap() {
			if !t.clean(branch) {
				return false
			}
		}
	}
	return true
}

// hiddenError stands for an error whose text held a secret. It keeps only
// functions of the original, so no printing verb can reach the text.
type hiddenError struct {
	text    string
	is      func(target error) bool
	timeout bool
}

func newHiddenError(text string, err error) *hiddenError {
	var network net.Error
	return &hiddenError{
		text:    text,
		is:      func(target error) bool { return errors.Is(err, target) },
		timeout: errors.As(err, &network) && network.Timeout(),
	}
}

// Error is the redacted text.
func (e *hiddenError) Error() string { return e.text }

// Is asks the original, so that io.EOF or a system error is still found.
func (e *hiddenError) Is(target error) bool { return e.is(target) }

// Timeout is what the original said, as net.Error wants it.
func (e *hiddenError) Timeout() bool { return e.timeout }

// Temporary completes net.Error. Nothing here decides by it.
func (e *hiddenError) Temporary() bool { return e.timeout }

// panicError turns what a transport panicked with into an error: the value may
// hold the request, and with it the URL.
func panicError(value any) error {
	if err, ok := value.(error); ok {
		return fmt.Errorf("panic in the HTTP transport: %w", err)
	}
	return fmt.Errorf("panic in the HTTP transport: %v", value)
}

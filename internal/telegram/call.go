package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
)

// methodForm keeps a method from changing the path. The length leaves the request
// line far below the 4 KiB at which net/http starts to write it out.
var methodForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)

// Call posts params to method and returns the raw result. Nil params mean {}.
//
// A value {"@file":"path"}, at any depth, uploads that file, streamed from disk;
// every other value goes as it is. Only an object means a file, so text a user
// typed never can.
//
// The error is always an [*Error]. A canceled ctx stops the request, and
// Error.Written then says whether it had begun to leave.
func (c *Client) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.call(ctx, method, params, c.timeout)
}

func (c *Client) call(ctx context.Context, method string, params json.RawMessage, timeout time.Duration) (json.RawMessage, error) {
	if !methodForm.MatchString(method) {
		return nil, &Error{Method: "?", Err: fmt.Errorf("%w: method: expected a word of letters and digits", ErrInvalidCall)}
	}
	body, err := newBody(params)
	if err != nil {
		return nil, &Error{Method: method, Err: c.token.cause(err)}
	}
	defer body.close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, e := c.post(ctx, method, body)
	if e != nil {
		return nil, e
	}
	return result, nil
}

func (c *Client) post(ctx context.Context, method string, body *body) (json.RawMessage, *Error) {
	var sent written
	res, err := c.roundTrip(httptrace.WithClientTrace(body.attach(ctx), sent.trace()), method, body)
	if err == nil {
		return answer{res.StatusCode(), res.Header(), res.Body()}.result(method, c.token)
	}
	if timedOut(err) {
		// The network may have changed under every idle connection as well.
		c.http.CloseIdleConnections()
	}
	e := &Error{Method: method, Written: sent.Load(), Err: c.token.cause(err)}
	if res != nil && res.RawResponse != nil {
		e.Status, e.Written = res.StatusCode(), true
		e.RetryAfter = headerWait(res.Header())
	}
	return nil, e
}

// roundTrip turns a panic into an error: its value may hold the request, and with
// it the token, which would then be printed with the stack.
func (c *Client) roundTrip(ctx context.Context, method string, body *body) (res *resty.Response, err error) {
	defer func() {
		if value := recover(); value != nil {
			res, err = nil, panicError(value)
		}
	}()
	request := c.resty.R().SetContext(ctx).SetHeader("Content-Type", body.contentType)
	if body.json != nil {
		request.SetBody([]byte(body.json))
	}
	return request.Post(c.root + "/bot" + c.token.Reveal() + "/" + method)
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// written records whether a byte of the request can have left.
type written struct{ atomic.Bool }

// trace sets it at the first header, which net/http announces before it writes
// anything, and clears it when a connection is looked for: for a POST net/http
// does that a second time only after a try that wrote nothing.
func (w *written) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn:          func(string) { w.Store(false) },
		WroteHeaderField: func(string, []string) { w.Store(true) },
	}
}

// body is a request body: JSON, or an upload when params name files.
type body struct {
	contentType string
	json        json.RawMessage
	upload      *upload
}

func newBody(params json.RawMessage) (*body, error) {
	if len(bytes.TrimSpace(params)) == 0 {
		params = json.RawMessage("{}")
	}
	form, err := parseForm(params)
	if err != nil {
		return nil, err
	}
	if len(form.files) == 0 {
		return &body{contentType: "application/json", json: params}, nil
	}
	up, err := newUpload(form)
	if err != nil {
		return nil, err
	}
	return &body{contentType: up.contentType, upload: up}, nil
}

func (b *body) close() {
	if b.upload != nil {
		b.upload.close()
	}
}

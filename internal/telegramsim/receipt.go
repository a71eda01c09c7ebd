package telegramsim

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// secretHeader is how a receiver knows that an update is from Telegram.
const secretHeader = "X-Telegram-Bot-Api-Secret-Token"

// receipt is what came of one delivery.
type receipt struct {
	status     int           // 0: no answer
	failure    string        // in the words of getWebhookInfo; "" is a success
	retryAfter time.Duration // what the receiver asked for, else 0
	closed     bool          // the connection is of no more use
	lost       bool          // given up on: the receiver may still be at work
	reply      *call         // the call in the answer, nil without one
}

// webhookClient follows no redirect: it is an answer that is no 2xx.
func (s *Sim) webhookClient() *http.Client {
	transport := s.opts.WebhookTransport
	if transport == nil {
		transport = &http.Transport{
			TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
			MaxIdleConnsPerHost: maxConnections,
			IdleConnTimeout:     connectionLife,
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// post delivers an update once.
func (h *courier) post(ctx context.Context, raw []byte, timeout time.Duration) receipt {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address, bytes.NewReader(raw))
	if err != nil {
		return unanswered(ctx, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if h.hook.Secret != "" {
		req.Header.Set(secretHeader, h.hook.Secret)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return unanswered(ctx, err)
	}
	defer resp.Body.Close()
	return received(ctx, resp)
}

// watchedBody remembers how a body broke off, which call.read forgives.
type watchedBody struct {
	io.ReadCloser
	err error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// received reads an answer to its end: one that breaks off or comes too late is none.
// A body over the size of a request holds no call.
func received(ctx context.Context, resp *http.Response) receipt {
	c, body := &call{}, &watchedBody{ReadCloser: resp.Body}
	err := c.read(&http.Request{URL: &url.URL{}, Header: resp.Header, Body: body})
	if body.err != nil {
		return unanswered(ctx, body.err)
	}
	r := receipt{status: resp.StatusCode, closed: resp.Close}
	if r.status >= http.StatusOK && r.status < http.StatusMultipleChoices {
		if err == nil && c.mayReply() {
			r.reply = c
		}
		return r
	}
	r.failure = "Wrong response from the webhook: " + resp.Status
	if seconds, err := strconv.Atoi(strings.TrimSpace(resp.Header.Get("Retry-After"))); err == nil && seconds > 0 {
		r.retryAfter = min(time.Duration(min(seconds, 1<<20))*time.Second, maxRetryAfter)
	}
	return r
}

// unanswered words an error as the real server does where its words are known. The
// address, whose path may be a secret, is in none of them.
func unanswered(ctx context.Context, err error) receipt {
	r := receipt{closed: true, lost: ctx.Err() != nil}
	var address *url.Error
	var dns *net.DNSError
	switch {
	case r.lost:
		r.failure = "Read timeout expired"
	case errors.Is(err, syscall.ECONNREFUSED):
		r.failure = "Connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		r.failure = "Connection reset by peer"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.failure = "Connection closed"
	case errors.As(err, &dns):
		r.failure = "Failed to resolve host: Name or service not known"
	case errors.As(err, &address):
		r.failure = address.Err.Error()
	default:
		r.failure = "Connection closed"
	}
	return r
}

// mayReply reports whether the webhook's answer is a call that the real server runs.
func (c *call) mayReply() bool {
	c.method = strings.ToLower(c.params["method"])
	switch c.method {
	case "", "setwebhook", "deletewebhook", "close", "logout":
		return false
	}
	return !strings.HasPrefix(c.method, "get")
}

// runReply runs the call of a webhook's answer. The bot never learns what came of
// it, not even of a 429, so no penalty counts as known by it.
func (s *Sim) runReply(ctx context.Context, c *call) {
	c.entry = &Request{Arrived: time.Now(), Method: c.params["method"]}
	delete(c.params, "method")
	s.mu.Lock()
	s.enter(c)
	s.mu.Unlock()
	a := s.perform(ctx, c)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.entry.RetryAfter = a.retryAfter
	s.log.close(c.entry, a.status, time.Now())
}

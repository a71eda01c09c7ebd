package telemetry

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// heartbeatEvery is between two heartbeats, whatever became of the first.
	heartbeatEvery = time.Minute
	// readyEvery is how often a process that is not ready looks whether it is.
	readyEvery = 5 * time.Second
	// heartbeatTimeout bounds one request.
	heartbeatTimeout = 10 * time.Second
	// bodyMost is how much of an answer is read, for the connection to be used again.
	bodyMost = 64 << 10
)

// Heartbeat tells a monitor that the bot works: it asks for a page each minute.
// When the requests stay away the monitor raises the alarm, so there is none from
// a process that is not ready.
type Heartbeat struct {
	// URL is the page. It is a secret: who knows it can keep the monitor calm.
	URL string
	// Health says whether the process is ready.
	Health *Health
	// Metrics counts what fails.
	Metrics *Metrics
	// Log is told once of failures in a row, and of their end.
	Log *slog.Logger
	// Client makes the requests. Default nil: the one of net/http.
	Client *http.Client

	failing bool
}

// Run asks for the page at once and each minute until ctx ends.
func (h *Heartbeat) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := readyEvery
		if ready, _ := h.Health.Ready(); ready {
			h.tell(ctx, h.ask(ctx))
			wait = heartbeatEvery
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

func (h *Heartbeat) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.URL, http.NoBody)
	if err != nil {
		return errors.New("the address cannot be read")
	}
	res, err := cmp.Or(h.Client, http.DefaultClient).Do(req)
	if err != nil {
		return bare(err)
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, bodyMost) // the status has been read
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// tell counts and logs a failure. What fails because ctx ended is none.
func (h *Heartbeat) tell(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		h.Metrics.heartbeats.Inc()
	}
	switch host := hostOf(h.URL); {
	case err != nil && !h.failing:
		h.Log.WarnContext(ctx, "heartbeat URL does not take the heartbeat", "host", host, "error", err)
	case err == nil && h.failing:
		h.Log.InfoContext(ctx, "heartbeat URL takes the heartbeat again", "host", host)
	}
	h.failing = err != nil
}

// bare is an error of the client without what it quotes: the address, or one that
// it was sent on to.
func bare(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return name
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificate
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %v", heartbeatTimeout)
	}
	return errors.New("the request failed")
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

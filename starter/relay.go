package starter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// passTimeout bounds one pass: longer than storing takes there.
	passTimeout = 15 * time.Second
	passDial    = 3 * time.Second
	// askTimeout bounds a look who is on duty, askEvery is between two of them, and
	// answerKept is how long an answer counts.
	askTimeout = 2 * time.Second
	askEvery   = 2 * time.Second
	answerKept = 5 * time.Second
)

var (
	// ErrNoHolder is returned while nobody is on duty, or before that process has
	// told its address.
	ErrNoHolder = errors.New("nobody to pass a post on to: no process on duty has told its address")
	// ErrHolderSilent is wrapped when the process on duty does not answer at its
	// address.
	ErrHolderSilent = errors.New("the process on duty does not answer at the address that it tells, see --advertise")
)

// Relay passes posts on to the process on duty.
type Relay struct {
	find   func(ctx context.Context) (string, error)
	client *http.Client

	mu    sync.Mutex
	found string // "" for nobody
	asked time.Time
	stale bool // a pass has failed since
}

// NewRelay returns a relay to the address that find returns, "" for none. It
// asks when the last answer is older than 5 s or a pass to it has failed, and not
// more often than every 2 s.
func NewRelay(find func(ctx context.Context) (string, error)) *Relay {
	return &Relay{find: find, client: &http.Client{
		Timeout:       passTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // no proxy: processes of a bot reach each other
			DialContext:         (&net.Dialer{Timeout: passDial}).DialContext,
			MaxIdleConnsPerHost: postsMost,
			IdleConnTimeout:     30 * time.Second, // below the other side's
		},
	}}
}

// HolderAddress finds the address that the process on duty tells in its
// heartbeat.
func HolderAddress(c Client, bot int64) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		h, err := DutyHolder(ctx, c, bot)
		return h.Beat.Address, err
	}
}

// Pass passes a post on, marked so that it is not passed again.
func (r *Relay) Pass(ctx context.Context, header http.Header, body []byte) (Passed, error) {
	address, err := r.holder(ctx)
	if err != nil {
		return Passed{}, err
	}
	got, err := r.post(ctx, address, header, body)
	if err != nil {
		r.doubt(address)
		return Passed{}, fmt.Errorf("%w: %w", ErrHolderSilent, err)
	}
	return got, nil
}

func (r *Relay) post(ctx context.Context, address string, header http.Header, body []byte) (Passed, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+WebhookPath, bytes.NewReader(body))
	if err != nil {
		return Passed{}, err
	}
	req.Header = header.Clone()
	for _, hop := range []string{"Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Content-Length"} {
		req.Header.Del(hop) // of the connection that the post came by
	}
	req.Header.Set(passedHeader, "1")
	res, err := r.client.Do(req)
	if err != nil {
		return Passed{}, err
	}
	defer res.Body.Close()
	_, _ = io.CopyN(io.Discard, res.Body, bodyMost) // to use the connection again
	if res.Header.Get(answeredHeader) == "" {
		return Passed{}, fmt.Errorf("%s answers %s, and not as a process of this bot", address, res.Status)
	}
	return Passed{Status: res.StatusCode, RetryAfter: res.Header.Get("Retry-After")}, nil
}

// holder is the address to pass to. Those who come together ask once.
func (r *Relay) holder(ctx context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := time.Since(r.asked)
	if age > answerKept || r.stale && age > askEvery {
		if err := r.ask(ctx); err != nil {
			return "", err
		}
	}
	if r.found == "" || r.stale {
		return "", ErrNoHolder
	}
	return r.found, nil
}

func (r *Relay) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	found, err := r.find(ctx)
	r.asked, r.found, r.stale = time.Now(), found, found == "" || err != nil
	if err != nil {
		return fmt.Errorf("look who is on duty: %w", err)
	}
	return nil
}

// doubt has the next pass ask again, unless somebody has asked since.
func (r *Relay) doubt(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found == address {
		r.stale = true
	}
}

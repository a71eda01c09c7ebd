package stats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// askTimeout bounds one asking; a server that is well answers in a tenth of it.
const askTimeout = 2 * time.Second

// ErrStarting is the answer of a source that has not been opened yet.
var ErrStarting = errors.New("the process is starting: it has not reached Temporal yet")

// Source is where one process takes the numbers from. However many want to know,
// it asks Temporal once at a time, and remembers the last answer.
type Source struct {
	flight singleflight.Group

	mu   sync.Mutex
	ask  func(context.Context) (Numbers, error) // nil until it is opened
	last Numbers
	at   time.Time // when last was asked for
}

// Open tells the source whom to ask about which bot, see [Ask].
func (s *Source) Open(c Client, namespace string, bot int64, attributes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ask = func(ctx context.Context) (Numbers, error) { return Ask(ctx, c, namespace, bot, attributes) }
}

// Numbers returns numbers that were asked for no longer than age ago, within two
// seconds. An error is not remembered.
func (s *Source) Numbers(ctx context.Context, age time.Duration) (Numbers, error) {
	if n, ok := s.known(age); ok {
		return n, nil
	}
	// Another asker's end must not end the asking of the rest.
	answer := s.flight.DoChan("", func() (any, error) { return s.fetch(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return Numbers{}, ctx.Err()
	case r := <-answer:
		n, _ := r.Val.(Numbers)
		return n, r.Err
	}
}

func (s *Source) known(age time.Duration) (Numbers, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, !s.at.IsZero() && time.Since(s.at) < age
}

func (s *Source) fetch(ctx context.Context) (Numbers, error) {
	s.mu.Lock()
	ask := s.ask
	s.mu.Unlock()
	if ask == nil {
		return Numbers{}, ErrStarting
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	began := time.Now()
	n, err := ask(ctx)
	if err != nil {
		return Numbers{}, fmt.Errorf("ask Temporal: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.at = n, began
	return n, nil
}

package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// rejectedInRow is how many recipients in a row may be refused by Telegram
	// before it is the message and not they.
	rejectedInRow = 20
	// mostFlows bounds what is remembered of broadcasts.
	mostFlows = 100
)

// errTwin is wrapped for a recipient whose chat has become another recipient.
var errTwin = errors.New("which is a recipient itself")

// flows are the broadcasts that this process sends.
type flows struct {
	mu     sync.Mutex
	byName map[string]*flow
}

// of returns what is known of a broadcast.
func (f *flows) of(name string) *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byName == nil || len(f.byName) >= mostFlows && f.byName[name] == nil {
		f.byName = map[string]*flow{} // the batches that run keep theirs
	}
	if f.byName[name] == nil {
		f.byName[name] = &flow{tripped: make(chan struct{})}
	}
	return f.byName[name]
}

// flow is what this process knows of a broadcast.
type flow struct {
	mu      sync.Mutex
	row     int           // refused since somebody got the message
	why     string        // of the last row
	tripped chan struct{} // closed when a row is complete

	asking sync.Mutex
	groups map[int64]struct{} // nil: not known yet
}

// watch returns what is closed when the batches that run should end.
func (f *flow) watch() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tripped
}

// hear takes in an outcome. Those who cannot be reached tell nothing about the
// message.
func (f *flow) hear(r contract.RecipientResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case r.Outcome == contract.Delivered:
		f.row = 0
	case r.Reason == contract.ReasonRejected:
		if f.row++; f.row < rejectedInRow {
			return
		}
		f.row, f.why = 0, fmt.Sprintf("%d recipients in a row were refused: %s", rejectedInRow, r.Error)
		close(f.tripped)
		f.tripped = make(chan struct{})
	}
}

// trouble is why the batches had to end.
func (f *flow) trouble() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why
}

// apart is nil unless a chat that a recipient has moved to is a recipient itself,
// which would get the message twice.
func (f *flow) apart(ctx context.Context, chat int64, read func(context.Context) (map[int64]struct{}, error)) error {
	f.asking.Lock()
	defer f.asking.Unlock()
	if f.groups == nil {
		groups, err := read(ctx)
		if err != nil {
			return err
		}
		f.groups = groups
	}
	if _, there := f.groups[chat]; there {
		return fmt.Errorf("the chat is now %d, %w", chat, errTwin)
	}
	return nil
}

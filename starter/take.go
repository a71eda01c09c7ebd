package starter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// takeWait is how long a post waits until it can be stored. More at a time would
// not be stored sooner, and the workflows that were started would wait for them.
const takeWait = 500 * time.Millisecond

// ErrBusy is returned for a post that came while many others were being stored.
var ErrBusy = errors.New("too many updates are being stored")

// Take stores one update that was posted, or keeps a body that is none as a dead
// letter: Telegram would post it for ever. Once it returns nil the post may be
// answered as taken, also when it was known already.
//
// Posts of one ordering key are stored in the order in which Take was called.
// Behind one that fails, those that wait fail as well: none of them gets ahead.
func (b *Inbox) Take(ctx context.Context, body []byte) error {
	e, err := b.read(ctx, body)
	if errors.Is(err, ErrNoUpdateID) {
		return b.bury(ctx, body)
	}
	return b.lines.inTurn(e.OrderKey, func() error { return b.startSoon(ctx, e) })
}

// startSoon starts a workflow while not too many others are being started.
func (b *Inbox) startSoon(ctx context.Context, e entry) error {
	late := time.NewTimer(takeWait)
	defer late.Stop()
	select {
	case b.starts <- struct{}{}:
	case <-late.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-b.starts }()
	_, err := b.startRow(ctx, []entry{e})
	return err
}

// errAhead is the failure of what waited behind a failure.
var errAhead = errors.New("the update before it in its chat could not be stored")

// lines put those who come with the same key in the order in which they came.
// The zero value is ready.
type lines struct {
	mu   sync.Mutex
	last map[string]*place
}

// place is one's place in a line.
type place struct {
	done chan struct{} // closed when it has been its turn
	err  error         // how that ended; may be read after done
}

// inTurn runs a step when the steps before it with the same key have ended, and
// not at all when the last of those that it waited for failed. Without a key it
// waits for nothing. How long it waits is up to the steps before it.
func (l *lines) inTurn(key string, step func() error) error {
	if key == "" {
		return step()
	}
	mine, ahead := l.join(key)
	defer l.leave(key, mine)
	mine.err = errAhead // if the step panics
	if ahead != nil {
		<-ahead.done
		if err := behind(ahead.err); err != nil {
			mine.err = err
			return err
		}
	}
	mine.err = step()
	return mine.err
}

// behind is the failure of what waited for something that ended so.
func behind(err error) error {
	if err == nil || errors.Is(err, errAhead) {
		return err
	}
	return fmt.Errorf("%w: %w", errAhead, err)
}

// join returns the place before the own, nil for none.
func (l *lines) join(key string) (mine, ahead *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[string]*place{}
	}
	mine, ahead = &place{done: make(chan struct{})}, l.last[key]
	l.last[key] = mine
	return mine, ahead
}

func (l *lines) leave(key string, mine *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last[key] == mine {
		delete(l.last, key)
	}
	close(mine.done)
}

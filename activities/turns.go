package activities

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// memoryWait is how long an update waits in memory for its predecessor
	// before it asks to be woken by a signal, which costs both of them events.
	memoryWait = 4 * time.Second
	// memoryWaiters bounds how many wait so: each holds a workflow task.
	memoryWaiters = 500
	// remembered is how many finished updates a process remembers.
	remembered = 20_000
)

// Turns keeps the updates of a chat in order. It holds what this process knows
// of finished updates; what it does not know it asks the predecessor itself.
type Turns struct {
	executions Executions

	mu      sync.Mutex
	done    map[string]bool
	ring    []string // the remembered IDs, the oldest at next
	next    int
	waiting map[string]*room // by the ID of the update they wait for
	waiters int
}

// room is where updates wait in memory for one other to be done.
type room struct {
	done   chan struct{}
	inside int
}

// NewTurns returns a Turns that knows of no finished update.
func NewTurns(executions Executions) *Turns {
	return &Turns{
		executions: executions,
		done:       make(map[string]bool),
		ring:       make([]string, remembered),
		waiting:    make(map[string]*room),
	}
}

// AwaitTurn reports whether the predecessor is done. False means that the
// predecessor has been asked to signal the asker when it is; an asker that asks
// twice is woken once, which is all it needs.
//
// Only NotFound means that the predecessor is closed. Any other error of the
// signal is returned, for the caller to ask again. In the place of one that was
// terminated stands the one that it waited for.
func (t *Turns) AwaitTurn(ctx context.Context, in contract.TurnInput) (bool, error) {
	if t.waitInMemory(ctx, in.After) {
		return true, nil
	}
	for after := in.After; after != "" && !t.Finished(after); {
		err := t.executions.SignalWorkflow(ctx, after, "", contract.WakeMeSignal, in.Self)
		if err == nil {
			return t.Finished(after), nil
		}
		if !closed(err) {
			return false, fmt.Errorf("ask %s for the turn: %w", after, err)
		}
		if after, err = t.behind(ctx, after); err != nil {
			return false, err
		}
	}
	return true, nil
}

// PassTurn marks an update done and wakes those who wait for it, here and where
// they asked. One that may be waited for once more is not marked. Running twice it
// signals twice, and the second signal finds the asker closed or unmoved. An asker
// it cannot reach asks again by itself.
func (t *Turns) PassTurn(ctx context.Context, in contract.PassInput) error {
	if !in.Again {
		t.remember(in.Self)
	}
	t.wake(in.Self)
	var errs []error
	for _, asker := range in.Askers {
		err := t.executions.SignalWorkflow(ctx, asker, "", contract.YourTurnSignal, in.Self)
		if err != nil && !closed(err) {
			errs = append(errs, fmt.Errorf("wake %s: %w", asker, err))
		}
	}
	return errors.Join(errs...)
}

// Finished reports whether this process knows the update to be done. False
// means that it does not know.
func (t *Turns) Finished(workflowID string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done[workflowID]
}

func (t *Turns) remember(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done[id] {
		return
	}
	delete(t.done, t.ring[t.next])
	t.ring[t.next], t.done[id] = id, true
	t.next = (t.next + 1) % len(t.ring)
}

// wake lets those go who wait in memory.
func (t *Turns) wake(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.waiting[id]; ok {
		close(r.done)
		delete(t.waiting, id)
	}
}

func (t *Turns) waitInMemory(ctx context.Context, id string) bool {
	r := t.join(id)
	if r == nil {
		return t.Finished(id)
	}
	defer t.leave(id, r)
	timer := time.NewTimer(memoryWait)
	defer timer.Stop()
	select {
	case <-r.done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// join enters the room of those who wait for id; nil when it is done already or
// when too many wait.
func (t *Turns) join(id string) *room {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done[id] || t.waiters >= memoryWaiters {
		return nil
	}
	r := t.waiting[id]
	if r == nil {
		r = &room{done: make(chan struct{})}
		t.waiting[id] = r
	}
	t.waiters++
	r.inside++
	return r
}

// leave forgets the room with its last guest: the update they waited for may be
// done in another process, where nobody here hears of it.
func (t *Turns) leave(id string, r *room) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiters--
	r.inside--
	if r.inside == 0 && t.waiting[id] == r {
		delete(t.waiting, id)
	}
}

func closed(err error) bool {
	var notFound *serviceerror.NotFound
	return errors.As(err, &notFound)
}

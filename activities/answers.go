package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// answersKept is how long an answer is remembered for an attempt that the
	// server starts because it never heard of it.
	answersKept = 15 * time.Minute
	// answersLast is how many are remembered however old they are: an outage of
	// Temporal may last longer, and after its begin only what was in the air, and
	// what left within the lease, is answered.
	answersLast = 2000
)

// errElsewhere is the end of a wait for another attempt that is still running.
var errElsewhere = errors.New("another attempt of this process is still making the call")

// Answers keeps, for each call, its running attempt and then its answer. While
// Temporal cannot be reached an answer cannot be reported, and the next attempt
// would send again: in the same process it finds the answer here instead. It
// belongs to the process and outlives its times on duty. It is bounded by the
// rate of the bot: 28 calls a second are some 25,000 answers.
type Answers struct {
	mu     sync.Mutex
	byCall map[string]*answer
	kept   []*answer // those that have ended, the oldest first

	reached reached
}

type answer struct {
	call   string
	done   chan struct{}
	made   time.Time
	result contract.CallResult
	err    error
	final  bool
}

// NewAnswers returns an Answers that knows none.
func NewAnswers() *Answers {
	return &Answers{byCall: make(map[string]*answer)}
}

// once runs fn unless an attempt of this call is running here or has ended here
// for good; then it returns what that one answered. After an attempt that is to
// be repeated the next one runs.
func (a *Answers) once(ctx context.Context, call string, fn func() (contract.CallResult, error)) (contract.CallResult, error) {
	for {
		e, mine := a.join(call)
		if mine {
			return a.run(e, fn)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			return contract.CallResult{}, errElsewhere
		}
		if e.final {
			return e.result, e.err
		}
	}
}

func (a *Answers) join(call string) (*answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.evict()
	if e, ok := a.byCall[call]; ok {
		return e, false
	}
	e := &answer{call: call, done: make(chan struct{})}
	a.byCall[call] = e
	return e, true
}

// run makes room for the next attempt whatever becomes of this one, a panic
// included.
func (a *Answers) run(e *answer, fn func() (contract.CallResult, error)) (contract.CallResult, error) {
	defer a.leave(e)
	e.result, e.err = fn()
	e.final = final(e.err)
	return e.result, e.err
}

// leave publishes the answer and keeps it if it is final.
func (a *Answers) leave(e *answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.final {
		e.made = time.Now()
		a.kept = append(a.kept, e)
	} else {
		delete(a.byCall, e.call)
	}
	close(e.done)
}

// evict forgets the answers that nobody will ask for any more, of which there are
// newer ones enough.
func (a *Answers) evict() {
	old := time.Now().Add(-answersKept)
	n := 0
	for n < len(a.kept)-answersLast && a.kept[n].made.Before(old) {
		delete(a.byCall, a.kept[n].call)
		a.kept[n] = nil
		n++
	}
	a.kept = a.kept[n:]
}

// final reports whether Temporal will not start another attempt after err.
func final(err error) bool {
	var app *temporal.ApplicationError
	return err == nil || errors.As(err, &app) && app.NonRetryable()
}

package limiter

import (
	"errors"
	"fmt"
	"time"
)

// ErrDropped is the answer to a transient call that would have had to wait.
var ErrDropped = errors.New("dropped: the call is of no use later")

// ErrSuperseded is the answer to an edit of a message when a newer edit of the
// same message is known. The older one must not be sent any more: it would
// overwrite newer content.
var ErrSuperseded = errors.New("superseded by a newer edit")

// Paced is the answer of [Limiter.Acquire] to a call whose chat, or method, must
// wait so long that it should not hold a slot meanwhile. It is not a failure and
// uses no attempt. Match it with errors.As.
type Paced struct {
	// Delay is when to come back, counted from the answer; always above 0. The
	// call's place in its chat is kept until two seconds after it.
	Delay time.Duration
	// MethodOnly says that only a penalty on the call's method makes it wait: the
	// rest of its chat goes on, and no place is kept.
	MethodOnly bool
}

// Error implements error.
func (p *Paced) Error() string {
	return fmt.Sprintf("paced: come back in %v", p.Delay)
}

// Moved is the answer to a call for a chat that has another id now. Match it with
// errors.As.
type Moved struct {
	// To is the chat's present id.
	To int64
}

// Error implements error.
func (m *Moved) Error() string {
	return fmt.Sprintf("moved: the chat is now %d", m.To)
}

package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// What the tests reach beside the exported names.
var (
	Backoff    = backoff
	FloodWait  = floodWait
	BudgetChat = budgetChat
	Edited     = edited
	ProbeWait  = probeWait
	Plain      = plain
)

// What the tests count against.
const (
	MemoryWaiters = memoryWaiters
	Remembered    = remembered
	AnswersLast   = answersLast
)

// Quiet is the text that is kept of an error that says text.
func Quiet(text, params string) string {
	return quiet(errors.New(text), json.RawMessage(params))
}

// Kept is how many answers the sender holds, running attempts included.
func (s *Sender) Kept() int {
	s.answers.mu.Lock()
	defer s.answers.mu.Unlock()
	return max(len(s.answers.byCall), len(s.answers.kept))
}

// AnswerOthers makes so many other calls, which are answered at once.
func (s *Sender) AnswerOthers(n int) {
	for i := range n {
		_, _ = s.answers.once(context.Background(), strconv.Itoa(i), func() (contract.CallResult, error) { return contract.CallResult{}, nil })
	}
}

// Held is how many updates a Turns remembers as done, and for how many others
// somebody waits.
func (t *Turns) Held() (done, rooms int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.done), len(t.waiting)
}

// Skew makes the lease's wall clock run ahead of the monotonic one.
func (l *Lease) Skew(by time.Duration) {
	l.wall = func() time.Time { return time.Now().Add(by) }
}

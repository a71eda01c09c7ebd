package workflows

import (
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// markLife is how long a chat is taken for closed or moved without anything new.
const markLife = 90 * 24 * time.Hour

// marks is what is known of a chat, and the rules by which that changes. Marks
// may come in any order: their times decide.
type marks contract.ChatState

// add takes in a mark. The newest closed and the newest moved mark win, and of
// the penalties on one method that which ends last.
func (m *marks) add(mark contract.ChatMark) {
	if n := mark.Closed; n != nil && (m.Closed == nil || n.Since.After(m.Closed.Since)) {
		m.Closed = n
	}
	if n := mark.Moved; n != nil && (m.Moved == nil || n.Since.After(m.Moved.Since)) {
		m.Moved = n
	}
	for _, p := range mark.Penalties {
		m.penalize(p)
	}
}

// penalize keeps the penalties ordered by their method.
func (m *marks) penalize(p contract.ChatPenalty) {
	i, found := slices.BinarySearchFunc(m.Penalties, p.Method, func(have contract.ChatPenalty, method string) int {
		return strings.Compare(have.Method, method)
	})
	switch {
	case !found:
		m.Penalties = slices.Insert(m.Penalties, i, p)
	case p.Until.After(m.Penalties[i].Until):
		m.Penalties[i] = p
	}
}

// clear takes marks back that were made before a time. Penalties stay.
func (m *marks) clear(c contract.ChatClear) {
	if m.Closed != nil && m.Closed.Since.Before(c.Before) {
		m.Closed = nil
	}
	if c.All && m.Moved != nil && m.Moved.Since.Before(c.Before) {
		m.Moved = nil
	}
}

// drop forgets what is over at a time.
func (m *marks) drop(now time.Time) {
	if m.Closed != nil && !now.Before(m.Closed.Since.Add(markLife)) {
		m.Closed = nil
	}
	if m.Moved != nil && !now.Before(m.Moved.Since.Add(markLife)) {
		m.Moved = nil
	}
	m.Penalties = slices.DeleteFunc(m.Penalties, func(p contract.ChatPenalty) bool { return !now.Before(p.Until) })
}

// nextEnd is when the next of the marks is over, the zero time when there is none.
func (m *marks) nextEnd() time.Time {
	var all []time.Time
	if m.Closed != nil {
		all = append(all, m.Closed.Since.Add(markLife))
	}
	if m.Moved != nil {
		all = append(all, m.Moved.Since.Add(markLife))
	}
	for _, p := range m.Penalties {
		all = append(all, p.Until)
	}
	if len(all) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(all, time.Time.Compare)
}

// outcome is how calls to the chat end now, "" when nothing is known.
func (m *marks) outcome() string {
	switch {
	case m.Closed != nil:
		return string(contract.Unreachable)
	case m.Moved != nil:
		return outcomeMoved
	case len(m.Penalties) > 0:
		return outcomeRateLimited
	default:
		return ""
	}
}

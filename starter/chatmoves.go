package starter

import (
	"cmp"
	"slices"

	"github.com/durabot/durabot/internal/contract"
)

// chatMoves are the chats that another one has taken the place of.
type chatMoves map[int64]contract.ChatMoved

// add notes a move, unless a newer one of the same chat is known.
func (m chatMoves) add(from int64, mark contract.ChatMoved) bool {
	if known, ok := m[from]; ok && !known.Since.Before(mark.Since) {
		return false
	}
	m[from] = mark
	return true
}

// knows reports whether what is sent to a chat already goes where the move leads.
func (m chatMoves) knows(from, to int64) bool {
	end := m.end(from)
	return end != from && end == m.end(to)
}

// end is the chat that has taken the place of another, or that chat itself.
// Moves in a circle, which Telegram does not make, end where the newest leads.
func (m chatMoves) end(chat int64) int64 {
	for path := []int64{chat}; ; {
		last := path[len(path)-1]
		next, ok := m[last]
		if !ok {
			return last
		}
		if i := slices.Index(path, next.To); i >= 0 {
			return m[slices.MaxFunc(path[i:], m.older)].To
		}
		path = append(path, next.To)
	}
}

// older orders the moves of two chats by time, and of one moment by chat.
func (m chatMoves) older(a, b int64) int {
	return cmp.Or(m[a].Since.Compare(m[b].Since), cmp.Compare(a, b))
}

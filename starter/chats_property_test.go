package starter_test

import (
	"context"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// world is three chats, requests to them that are on their way, updates from
// them, and whatever else happens just ahead of each request to Temporal.
type world struct {
	t      *rapid.T
	server *chatServer
	chats  *starter.Chats

	air     map[int64][]time.Time // when requests left that are not answered yet
	refused map[int64]time.Time   // when the last request left of those answered so
	seen    map[int64]time.Time
	older   []map[string]contract.ChatState // what a list may still show
	left    [][]contract.ChatState          // hand-overs
	depth   int
	failing bool
}

func newWorld(t *rapid.T) *world {
	w := &world{
		t: t, server: newChatServer(), air: map[int64][]time.Time{},
		refused: map[int64]time.Time{}, seen: map[int64]time.Time{}, failing: true,
	}
	w.chats = w.server.chats()
	w.server.before = w.meanwhile
	w.server.lists = func() map[string]contract.ChatState {
		if n := w.draw("list lag", len(w.older)); n > 0 {
			return w.older[len(w.older)-n]
		}
		return w.server.states
	}
	return w
}

func (w *world) draw(what string, most int) int { return rapid.IntRange(0, most).Draw(w.t, what) }

// meanwhile is called ahead of each request to Temporal.
func (w *world) meanwhile(_ context.Context, r request) error {
	for w.depth < 3 && w.draw("interrupted", 1) == 0 {
		w.depth++
		w.step()
		w.depth--
	}
	if w.failing && w.draw("fails", 4) == 0 {
		w.t.Logf("%s of %s fails", r.verb, r.id)
		return errAway
	}
	return nil
}

func (w *world) step() {
	<-time.After(time.Nanosecond)
	w.server.mu.Lock()
	w.older = append(w.older, maps.Clone(w.server.states))
	w.server.mu.Unlock()
	ctx, chat := w.t.Context(), int64(w.draw("chat", 2)+1)
	switch w.draw("step", 6) {
	case 0, 1:
		w.air[chat] = append(w.air[chat], time.Now())
	case 2:
		w.answer(ctx, chat)
	case 3:
		w.seen[chat] = time.Now()
		w.chats.Seen(ctx, chat)
	case 4:
		_ = w.load()
	case 5:
		w.left = append(w.left, w.chats.Recent())
	case 6:
		if n := w.draw("hand-over", len(w.left)); n > 0 {
			w.chats.Restore(w.left[n-1])
		}
	}
}

func (w *world) load() error {
	return w.chats.Load(w.t.Context(), func(int64, string, time.Time) {}, func(int64, int64) {})
}

// answer refuses one of the requests on their way.
func (w *world) answer(ctx context.Context, chat int64) {
	n := len(w.air[chat])
	if n == 0 {
		return
	}
	i := w.draw("answered", n-1)
	left := w.air[chat][i]
	w.air[chat] = append(append([]time.Time(nil), w.air[chat][:i]...), w.air[chat][i+1:]...)
	if left.After(w.refused[chat]) {
		w.refused[chat] = left
	}
	w.chats.Close(ctx, chat, "blocked", left)
}

// requireNoneClosedThatWasSeen also checks that a chat is closed that must be.
func (w *world) requireNoneClosedThatWasSeen(c *starter.Chats, what string) {
	for chat := int64(1); chat <= 3; chat++ {
		_, closed := c.Closed(w.t.Context(), chat)
		refused := w.refused[chat]
		require.False(w.t, closed && !refused.After(w.seen[chat]),
			"%s: chat %d was refused for a request of %v and seen at %v", what, chat, refused, w.seen[chat])
		if !w.failing && what == "this process" && refused.After(w.seen[chat]) {
			require.True(w.t, closed, "chat %d", chat)
		}
	}
}

func TestNoChatStaysClosedThatWasSeenAfterTheRefusedRequestLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) {
			w := newWorld(t)
			w.failing = rapid.Bool().Draw(t, "failing")
			for range w.draw("steps", 30) {
				w.step()
				w.depth = 9 // looks undisturbed
				w.requireNoneClosedThatWasSeen(w.chats, "this process")
				w.depth = 0
			}
			w.depth, w.older = 9, nil
			if w.failing { // what could not be told is told with the next load
				w.failing = false
				require.NoError(t, w.load())
				w.requireNoneClosedThatWasSeen(w.chats, "after the load")
			}
			w.chats = w.server.chats()
			require.NoError(t, w.load())
			w.requireNoneClosedThatWasSeen(w.chats, "the next process")
		})
	})
}

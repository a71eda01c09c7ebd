package starter_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// told is what an inbox says of chats, in order.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (l *told) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *told) Seen(_ context.Context, chat int64)     { l.add("seen %d", chat) }
func (l *told) Move(_ context.Context, from, to int64) { l.add("move %d to %d", from, to) }

func TestWhatAnUpdateSaysOfItsChatIsToldBeforeItIsStarted(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`"message":{"chat":{"id":42}}`:                                              "seen 42",
		`"edited_message":{"chat":{"id":42}}`:                                       "seen 42",
		`"channel_post":{"chat":{"id":-100}}`:                                       "seen -100",
		`"callback_query":{"id":"x","message":{"chat":{"id":42}}}`:                  "seen 42",
		`"my_chat_member":{"chat":{"id":42},"new_chat_member":{"status":"member"}}`: "seen 42",
		`"my_chat_member":{"chat":{"id":42},"new_chat_member":{"status":"kicked"}}`: "",
		`"my_chat_member":{"chat":{"id":-42},"new_chat_member":{"status":"left"}}`:  "",
		`"chat_member":{"chat":{"id":-42},"new_chat_member":{"status":"kicked"}}`:   "seen -42",
		`"message":{"chat":{"id":-5},"migrate_to_chat_id":-1005}`:                   "seen -5, move -5 to -1005",
		`"message":{"chat":{"id":-1005},"migrate_from_chat_id":-5}`:                 "seen -1005, move -5 to -1005",
		`"business_message":{"chat":{"id":42}}`:                                     "",
		`"guest_message":{"chat":{"id":42}}`:                                        "",
		`"inline_query":{"from":{"id":42}}`:                                         "",
		`"message":"odd"`:                                                           "",
		`"hologram_call":{"chat":{"id":42}}`:                                        "",
		`"message":{"chat":{"id":42},"text":"` + strings.Repeat("x", 2<<20) + `"}`:  "seen 42",
	} {
		chats := &told{}
		b := setup(starter.Settings{Chats: chats})
		b.server.before = func(string) error { chats.add("start"); return nil }
		store(t, b, `{"update_id":9,`+object+`}`)
		require.Equal(t, strings.TrimPrefix(want+", start", ", "), strings.Join(chats.lines, ", "), "%.80s", object)
	}
}

func TestWhatARowSaysOfItsChatIsToldInItsOrder(t *testing.T) {
	t.Parallel()
	chats := &told{}
	b := setup(starter.Settings{Chats: chats})
	b.server.before = func(id string) error { chats.add("start %s", id); return nil }
	store(t, b, `{"update_id":1,"message":{"chat":{"id":42}}}`,
		`{"update_id":2,"my_chat_member":{"chat":{"id":42},"new_chat_member":{"status":"kicked"}}}`,
		`{"update_id":3,"message":{"chat":{"id":42}}}`)
	require.Equal(t, []string{"seen 42", "start " + id(1), "start " + id(2), "seen 42", "start " + id(3)}, chats.lines)
}

func TestAnUpdateThatIsDeliveredAgainIsToldAgain(t *testing.T) {
	t.Parallel()
	chats := &told{}
	b := setup(starter.Settings{Chats: chats})
	for range 2 {
		store(t, b, `{"update_id":1,"message":{"chat":{"id":42}}}`)
	}
	require.Equal(t, []string{"seen 42", "seen 42"}, chats.lines)
}

func TestAUserWhoWritesAgainIsAnsweredAgain(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		closed := closedState(42, time.Now())
		s.set(closed)
		c.Restore([]contract.ChatState{closed})
		requireClosed(t, c, 42)
		b := setup(starter.Settings{Chats: c})
		b.server.before = func(string) error {
			require.Nil(t, s.state(42).Closed, "before the update's turn")
			requireOpen(t, c, 42)
			return nil
		}
		store(t, b, `{"update_id":1,"message":{"chat":{"id":42}}}`)
		require.Len(t, b.server.ids(), 1)
	})
}

package starter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func TestANewProcessLoadsEveryMark(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		now := time.Now()
		for chat := range int64(5) {
			s.set(closedState(chat+1, now.Add(-time.Hour)))
		}
		s.set(movedState(-5, -6, now.Add(-time.Hour)))
		s.set(movedState(-6, -7, now.Add(-time.Hour)))
		long := contract.ChatPenalty{Method: "sendPhoto", Until: now.Add(time.Hour)}
		short := contract.ChatPenalty{Until: now.Add(500 * time.Millisecond)}
		s.set(contract.ChatState{ChatID: 50, Penalties: []contract.ChatPenalty{long, short, {Until: now}}})
		s.set(contract.ChatState{ChatID: 51}) // nothing is with it, and it is not open

		penalties, moves := load(t, c)
		require.Equal(t, 5, c.Unreachable())
		requireClosed(t, c, 5)
		require.Equal(t, map[int64]int64{-5: -7, -6: -7}, moves, "where they lead in the end")
		require.Len(t, penalties, 3)
		for i, want := range []contract.ChatPenalty{long, short, long} { // what is over at the second list is not told
			require.Equal(t, want.Method, penalties[i].Method)
			require.WithinDuration(t, want.Until, penalties[i].Until, 0)
		}
		require.Equal(t, time.Second, time.Since(now))
		require.Empty(t, c.Recent(), "old marks are in every list")
		require.Equal(t, "WorkflowType = 'ChatWorkflow' AND TaskQueue = 'durabot-77' AND ExecutionStatus = 'Running'", s.asked[0].id)
	})
}

func TestAMarkThatTheListDoesNotShowAtFirstIsLoaded(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		lists := 0
		mark := closedState(42, time.Now())
		s.set(mark)
		s.lists = func() map[string]contract.ChatState {
			if lists++; lists == 1 {
				return nil
			}
			return map[string]contract.ChatState{contract.ChatID(bot, 42): mark}
		}
		load(t, c)
		requireClosed(t, c, 42)
	})
}

func TestAnUpdateFromBeforeTheMarksAreLoadedKeepsTheChatOpen(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.set(closedState(42, time.Now()))
		<-time.After(time.Second)
		c.Seen(t.Context(), 42)
		<-time.After(time.Hour) // Temporal was away for so long
		c.Seen(t.Context(), 43)
		load(t, c)
		requireOpen(t, c, 42)
		require.Zero(t, c.Unreachable())
		require.Nil(t, s.state(42).Closed, "and Temporal has heard of it")
	})
}

func TestAnUpdateDuringTheLoadKeepsTheChatOpen(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.set(closedState(42, time.Now()))
		old := map[string]contract.ChatState{contract.ChatID(bot, 42): closedState(42, time.Now())}
		s.lists = func() map[string]contract.ChatState { return old } // it lags
		seen := false
		s.before = func(_ context.Context, r request) error {
			if r.verb == "list" && !seen {
				seen = true
				<-time.After(time.Second)
				c.Seen(t.Context(), 42)
			}
			return nil
		}
		load(t, c)
		requireOpen(t, c, 42)
		require.Nil(t, s.state(42).Closed)
		require.Zero(t, c.Unreachable())
	})
}

func TestAMarkMadeSinceWinsOverALoadedOne(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		old := time.Now().Add(-time.Hour)
		s.lists = func() map[string]contract.ChatState {
			return map[string]contract.ChatState{"chat/77/42": closedState(42, old), "chat/77/-5": movedState(-5, -1, old)}
		}
		c.Close(t.Context(), 42, "blocked", time.Now())
		c.Move(t.Context(), -5, -2)
		s.verbs()
		load(t, c)
		require.Equal(t, int64(-2), c.MovedTo(-5))
		requireClosed(t, c, 42)
		require.NotContains(t, s.verbs(), "describe", "its confirmation is still good")
	})
}

func TestALoadThatFailsCanBeRepeated(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.set(closedState(42, time.Now()))
		s.breaks(errAway)
		err := c.Load(t.Context(), nil, nil)
		require.ErrorIs(t, err, errAway)
		require.ErrorContains(t, err, "list marked chats: ")
		s.breaks(nil)
		load(t, c)
		requireClosed(t, c, 42)
	})
}

func TestAMemoThatIsNoneIsNoMark(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.lists = func() map[string]contract.ChatState {
			return map[string]contract.ChatState{"chat/77/42": {Closed: &contract.ChatClosed{Why: "blocked"}}}
		}
		load(t, c)
		require.Zero(t, c.Unreachable())
	})
}

func TestMarksOfTheLastMinuteAreHandedOver(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Close(t.Context(), 1, "blocked", time.Now())
		<-time.After(time.Minute)
		left := time.Now()
		c.Close(t.Context(), 2, "blocked", left)
		c.Move(t.Context(), -5, -1005)
		c.Close(t.Context(), 3, "blocked", left)
		c.Seen(t.Context(), 3)
		require.ElementsMatch(t, []contract.ChatState{closedState(2, left), movedState(-5, -1005, left)}, c.Recent())

		next := s.chats()
		next.Restore(c.Recent())
		require.Equal(t, 1, next.Unreachable())
		requireClosed(t, next, 2)
		require.Equal(t, int64(-1005), next.MovedTo(-5))
		require.Len(t, next.Recent(), 2, "and on, if that process ends at once")
		<-time.After(time.Minute)
		require.Empty(t, next.Recent())
	})
}

func TestAHandOverIsBounded(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, _ *chatServer, c *starter.Chats) {
		for chat := range int64(1500) {
			c.Close(t.Context(), chat+1, "blocked", time.Now())
		}
		all := c.Recent()
		require.Len(t, all, 1000)
		require.Equal(t, int64(1500), all[999].ChatID, "the newest are kept")
	})
}

func TestChatsSeenLongAgoAreForgotten(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, _ *chatServer, c *starter.Chats) {
		c.Seen(t.Context(), 1)
		<-time.After(time.Hour)
		c.Seen(t.Context(), 2)
		require.Equal(t, 2, c.SeenLen(), "older marks may still turn up")
		load(t, c)
		for chat := range int64(1000) {
			c.Seen(t.Context(), chat+10)
			<-time.After(time.Second)
			require.LessOrEqual(t, c.SeenLen(), 243)
		}
	})
}

package starter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

func TestAMoveIsStoredOnceHoweverOftenItIsReported(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		at := time.Now()
		for range 3 {
			c.Move(t.Context(), -5, -1005)
			<-time.After(time.Second)
		}
		require.Equal(t, []string{"mark"}, s.verbs())
		require.Equal(t, movedState(-5, -1005, at), s.state(-5))
		require.Equal(t, int64(-1005), c.MovedTo(-5))
		require.Zero(t, c.MovedTo(-1005))
	})
}

func TestWhatIsNoMoveIsNotTakenForOne(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		for _, no := range [][2]int64{{0, 5}, {5, 0}, {5, 5}, {0, 0}} {
			c.Move(t.Context(), no[0], no[1])
			require.Zero(t, c.MovedTo(no[0]))
		}
		require.Empty(t, s.verbs())
	})
}

func TestAChainOfMovesIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, _ *chatServer, c *starter.Chats) {
		c.Move(t.Context(), -2, -3)
		c.Move(t.Context(), -1, -2)
		c.Move(t.Context(), -3, -4)
		for from := int64(-3); from < 0; from++ {
			require.Equal(t, int64(-4), c.MovedTo(from))
		}
	})
}

func TestInACircleTheNewestMoveWins(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		for n, move := range [][2]int64{{1, 2}, {2, 1}, {1, 2}, {2, 3}, {3, 1}} {
			<-time.After(time.Second)
			c.Move(t.Context(), move[0], move[1])
			require.Equal(t, move[1], c.MovedTo(move[0]), "move %d", n)
			require.Zero(t, c.MovedTo(move[1]))
		}
		require.Equal(t, int64(1), c.MovedTo(2))
		other := s.chats()
		_, moves := load(t, other)
		require.Equal(t, map[int64]int64{2: 1, 3: 1}, moves, "and in the next process")
	})
}

func TestAMovedChatIsNotClosedAnyMore(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Close(t.Context(), -5, "blocked", time.Now())
		c.Move(t.Context(), -5, -1005)
		requireOpen(t, c, -5)
		require.Zero(t, c.Unreachable())
		other := s.chats()
		load(t, other)
		require.Zero(t, other.Unreachable())
		require.Equal(t, int64(-1005), other.MovedTo(-5))
	})
}

func TestFollowingMovesNeverLoopsAndAllOfACircleAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, now := newChatServer().chats(), time.Now()
		targets := map[int64]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "moves") {
			from, to := rapid.Int64Range(1, 6).Draw(t, "from"), rapid.Int64Range(1, 6).Draw(t, "to")
			if from == to {
				continue
			}
			targets[to] = true
			at := now.Add(time.Duration(rapid.IntRange(-3, 0).Draw(t, "at")))
			c.Restore([]contract.ChatState{movedState(from, to, at)})
		}
		for from := range int64(7) {
			end := c.MovedTo(from)
			if end == 0 {
				continue
			}
			require.True(t, targets[end])
			require.Zero(t, c.MovedTo(end), "%d leads to %d, and on", from, end)
		}
	})
}

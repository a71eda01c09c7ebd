package starter_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// onClock runs a test on a clock of its own, with a server and a table over it.
func onClock(t *testing.T, test func(t *testing.T, s *chatServer, c *starter.Chats)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newChatServer()
		test(t, s, s.chats())
	})
}

func requireClosed(t *testing.T, c *starter.Chats, chat int64) {
	t.Helper()
	why, closed := c.Closed(t.Context(), chat)
	require.True(t, closed)
	require.Equal(t, "blocked", why)
}

func requireOpen(t *testing.T, c *starter.Chats, chat int64) {
	t.Helper()
	why, closed := c.Closed(t.Context(), chat)
	require.False(t, closed)
	require.Empty(t, why)
}

func TestAChatWithoutAMarkCostsNoRequest(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		requireOpen(t, c, 42)
		c.Seen(t.Context(), 42)
		require.Zero(t, c.MovedTo(42))
		require.Zero(t, c.Unreachable())
		require.Empty(t, c.Recent())
		require.Empty(t, s.verbs())
	})
}

func TestAClosedChatIsMarkedInAWorkflowOfItsOwn(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		left := time.Now()
		<-time.After(time.Second)
		c.Close(t.Context(), 42, "blocked", left)
		require.Equal(t, closedState(42, left), s.state(42), "since the request left")
		chat := temporal.NewSearchAttributeKeyKeyword("TgChat")
		require.Equal(t, client.StartWorkflowOptions{
			TaskQueue:             "durabot-77",
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
			StaticSummary:         "chat 42",
			TypedSearchAttributes: temporal.NewSearchAttributes(chat.ValueSet("42")),
		}, s.opts)
		require.Equal(t, 1, c.Unreachable())

		without := starter.NewChats(s, bot, false, slog.New(slog.DiscardHandler))
		without.Close(t.Context(), 43, "blocked", left)
		require.Zero(t, s.opts.TypedSearchAttributes.Size())
	})
}

func TestAMarkIsConfirmedOnceInFiveSeconds(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Close(t.Context(), 42, "blocked", time.Now())
		require.Equal(t, []string{"mark"}, s.verbs())
		for range 10 {
			requireClosed(t, c, 42)
		}
		<-time.After(5*time.Second - time.Nanosecond)
		requireClosed(t, c, 42)
		require.Empty(t, s.verbs(), "we have marked it ourselves")
		<-time.After(time.Nanosecond)
		requireClosed(t, c, 42)
		requireClosed(t, c, 42)
		require.Equal(t, []string{"describe"}, s.verbs())
	})
}

func TestAMarkThatTemporalDoesNotHoldIsForgotten(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]contract.ChatState{
		"taken back":    {ChatID: 42},
		"another mark":  {ChatID: 42, Penalties: []contract.ChatPenalty{{Until: time.Now()}}},
		"never started": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
				c.Restore([]contract.ChatState{closedState(42, time.Now())})
				s.set(state)
				requireOpen(t, c, 42)
				require.Zero(t, c.Unreachable())
				require.Equal(t, []string{"describe"}, s.verbs())
				requireOpen(t, c, 42)
				require.Empty(t, s.verbs())
			})
		})
	}
}

func TestWithoutTemporalAChatCountsAsOpen(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.set(closedState(42, time.Now()))
		c.Restore([]contract.ChatState{closedState(42, time.Now())})
		s.breaks(errAway)
		requireOpen(t, c, 42)
		s.breaks(nil)
		requireClosed(t, c, 42)
	})
}

func TestARequestForAMarkThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Restore([]contract.ChatState{closedState(42, time.Now())})
		s.before = hang
		for _, do := range []func(){
			func() { requireOpen(t, c, 42) },
			func() { c.Seen(t.Context(), 42) },
			func() { c.Close(t.Context(), 43, "blocked", time.Now()) },
			func() { c.Move(t.Context(), -1, -2) },
		} {
			begun := time.Now()
			do()
			require.Equal(t, 3*time.Second, time.Since(begun))
		}
	})
}

func TestWhileARequestIsOnItsWayNobodyElseWaits(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.before = hang
		go c.Close(t.Context(), 42, "blocked", time.Now())
		synctest.Wait()
		begun := time.Now()
		requireClosed(t, c, 42)
		requireOpen(t, c, 43)
		require.Zero(t, c.MovedTo(42))
		require.Zero(t, time.Since(begun))
		elapse(time.Minute)
	})
}

func TestTenRequestsRefusedAtOnceMarkOnce(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		var group sync.WaitGroup
		for n := range 10 {
			left := time.Now().Add(time.Duration(n))
			group.Go(func() { c.Close(t.Context(), 42, "blocked", left) })
		}
		group.Wait()
		require.Equal(t, []string{"mark"}, s.verbs())
		requireClosed(t, c, 42)
	})
}

func TestAnUpdateTakesTheMarkBack(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Close(t.Context(), 42, "blocked", time.Now())
		c.Seen(t.Context(), 42) // in the same moment
		requireOpen(t, c, 42)
		require.Zero(t, c.Unreachable())
		require.Nil(t, s.state(42).Closed)
		said := s.asked[1].arg.(contract.ChatClear)
		require.Equal(t, "intake", said.By)
		require.Equal(t, "an update came", said.Reason)
		require.False(t, said.All)
		require.Equal(t, []string{"mark", "clear"}, s.verbs())
		c.Seen(t.Context(), 42)
		require.Empty(t, s.verbs())
	})
}

func TestARequestThatLeftBeforeTheUpdateMarksNothing(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		left := time.Now()
		<-time.After(time.Second)
		c.Seen(t.Context(), 42)
		<-time.After(90 * time.Second)
		c.Seen(t.Context(), 43) // others come and go
		c.Close(t.Context(), 42, "blocked", left)
		requireOpen(t, c, 42)
		require.Empty(t, s.verbs())
		c.Close(t.Context(), 42, "blocked", time.Now())
		requireClosed(t, c, 42)
	})
}

func TestAnUpdateThatComesWhileTheMarkIsOnItsWayIsNotOvertaken(t *testing.T) {
	t.Parallel()
	for name, clearFails := range map[string]bool{"heard": false, "heard later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
				s.before = func(_ context.Context, r request) error {
					if r.verb == contract.ChatMarkSignal {
						<-time.After(time.Second)
						if clearFails {
							s.breaks(errAway)
						}
					}
					return nil
				}
				left := time.Now()
				go c.Close(t.Context(), 42, "blocked", left)
				<-time.After(time.Millisecond)
				c.Seen(t.Context(), 42)
				elapse(time.Minute)
				requireOpen(t, c, 42)
				if clearFails {
					require.NotNil(t, s.state(42).Closed)
					s.breaks(nil)
					c.Seen(t.Context(), 42)
				}
				require.Nil(t, s.state(42).Closed, "Temporal heard of the update before the mark")
			})
		})
	}
}

func TestAMarkThatCouldNotBeTakenBackIsVoidAndTriedAgain(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Close(t.Context(), 42, "blocked", time.Now())
		<-time.After(time.Second)
		s.breaks(errAway)
		c.Seen(t.Context(), 42)
		s.breaks(nil)
		requireOpen(t, c, 42)
		require.Empty(t, c.Recent(), "a void mark is not handed over")
		<-time.After(time.Hour)
		c.Seen(t.Context(), 1) // forgets who was seen long ago
		requireOpen(t, c, 42)
		require.NotNil(t, s.state(42).Closed)

		load(t, c)
		requireOpen(t, c, 42)
		require.Nil(t, s.state(42).Closed, "told at the next load")
	})
}

func TestAnUpdateTakesBackAMarkFromAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		ahead := closedState(42, time.Now().Add(time.Minute))
		s.set(ahead)
		c.Restore([]contract.ChatState{ahead})
		c.Seen(t.Context(), 42)
		c.Seen(t.Context(), 42)
		requireOpen(t, c, 42)
		require.Nil(t, s.state(42).Closed)
		load(t, c)
		requireOpen(t, c, 42)
	})
}

func TestAMarkMadeWhileTemporalIsAskedCounts(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Restore([]contract.ChatState{closedState(42, time.Now())})
		s.before = func(_ context.Context, r request) error {
			if r.verb == "describe" {
				c.Close(t.Context(), 42, "blocked", time.Now().Add(time.Nanosecond))
				s.set(contract.ChatState{ChatID: 42})
			}
			return nil
		}
		requireClosed(t, c, 42)
	})
}

func TestAnUpdateThatComesWhileTemporalIsAskedCounts(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.set(closedState(42, time.Now()))
		c.Restore([]contract.ChatState{closedState(42, time.Now())})
		s.before = func(_ context.Context, r request) error {
			if r.verb == "describe" {
				c.Seen(t.Context(), 42)
				s.set(closedState(42, time.Now())) // as if it were not done yet
			}
			return nil
		}
		requireOpen(t, c, 42)
	})
}

func TestAMarkThatIsNotStoredStandsInMemoryAndIsLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, s := &lines{}, newChatServer()
		c := starter.NewChats(s, bot, false, slog.New(slog.NewTextHandler(log, nil)))
		s.breaks(errors.New("boom"))
		c.Close(t.Context(), 42, "blocked", time.Now())
		c.Move(t.Context(), -5, -1005)
		c.Penalize(t.Context(), 43, "", time.Now().Add(time.Hour))
		requireClosed(t, c, 42)
		require.Equal(t, int64(-1005), c.MovedTo(-5))
		require.Equal(t, 3, log.count("level=WARN"))
		require.Contains(t, log.String(), "chat=42")
	})
}

func TestAMarkIsStoredThoughItsSenderIsToldToStop(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		s.before = func(ctx context.Context, _ request) error { return ctx.Err() }
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c.Close(ctx, 42, "blocked", time.Now())
		require.NotNil(t, s.state(42).Closed)
		c.Seen(ctx, 42)
		require.NotNil(t, s.state(42).Closed, "the update comes again")
	})
}

func TestOnlyALongPenaltyIsStored(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		c.Penalize(t.Context(), 42, "sendMessage", time.Now().Add(30*time.Second))
		c.Penalize(t.Context(), 0, "sendMessage", time.Now().Add(time.Hour))
		require.Empty(t, s.verbs())
		until := time.Now().Add(30*time.Second + 1)
		c.Penalize(t.Context(), 42, "sendMessage", until)
		require.Equal(t, []contract.ChatPenalty{{Method: "sendMessage", Until: until}}, s.state(42).Penalties)
		requireOpen(t, c, 42)
	})
}

func TestChatsAreUsedFromManyGoroutines(t *testing.T) {
	t.Parallel()
	onClock(t, func(t *testing.T, s *chatServer, c *starter.Chats) {
		var group sync.WaitGroup
		for n := range int64(40) {
			group.Go(func() {
				for chat := n % 3; chat < 30; chat++ {
					c.Close(t.Context(), chat+1, "blocked", time.Now())
					c.Closed(t.Context(), chat+1)
					c.Seen(t.Context(), chat+1)
					c.Move(t.Context(), chat+100, n+101)
					c.MovedTo(chat + 100)
					c.Restore(c.Recent())
					c.Unreachable()
				}
			})
		}
		load(t, c)
		group.Wait()
		for chat := range int64(30) {
			requireOpen(t, c, chat+1)
			require.Nil(t, s.state(chat+1).Closed)
		}
	})
}

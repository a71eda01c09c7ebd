package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

const sec = time.Second

func TestPrivateChatTakesABurstThenTheEvenRate(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 6 {
			w.deliver(message(1))
		}
		require.Equal(t, []time.Duration{0, 0, 0, 3 * sec, 3 * sec, 3 * sec}, w.times(1))
	})
}

func TestGroupTakesFiveAtOnceThenOneInThreeSecondsAndTwentyAMinute(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 26 {
			w.spawn(message(-1), 0)
		}
		w.callers.Wait()
		at := w.times(-1)
		require.Equal(t, []time.Duration{0, 0, 0, 0, 0, 3 * sec, 6 * sec}, at[:7])
		require.Equal(t, 45*sec, at[19])
		require.Equal(t, 60*sec, at[20])
		require.NoError(t, w.windows(chatsOnly()))
	})
}

func TestCallStaysInItsWindowUntilAWindowAfterItsAnswer(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		w.pass(2 * sec)
		g.Done()
		w.deliver(message(1))
		w.deliver(message(1))
		require.Equal(t, 5*sec, w.deliver(message(1)))
	})
}

func TestUnansweredCallsStayInTheBotsWindow(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.GlobalPerSecond = 2
	inWorld(t, cfg, func(t *testing.T, w *world) {
		var grants []*limiter.Grant
		for chat := range int64(4) {
			g, _ := w.acquire(message(chat + 1))
			grants = append(grants, g)
		}
		w.spawn(message(5), 0)
		w.pass(time.Minute)
		require.Empty(t, w.times(5))
		require.Zero(t, w.Stats().Tokens)
		grants[0].Done()
		w.pass(sec - 1)
		require.Empty(t, w.times(5))
		w.pass(1)
		require.Len(t, w.times(5), 1)
	})
}

func TestBotStartsAtItsEvenPaceWithoutABurst(t *testing.T) {
	t.Parallel()
	cfg := botOnly()
	cfg.GlobalPerSecond = 4
	inWorld(t, cfg, func(t *testing.T, w *world) {
		require.Equal(t, 2, w.Stats().Tokens, "as if the last second had been used")
		for chat := range int64(5) {
			require.Equal(t, time.Duration(chat+1)*sec/4, w.deliver(message(chat+1)))
		}
	})
}

func TestAlbumCountsEachItem(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		album := message(1)
		album.Items = 2
		w.deliver(album)
		require.Equal(t, 3*sec, w.deliver(album))
	})
}

func TestAlbumAboveTheBurstGoesAloneAndPaysAfterwards(t *testing.T) {
	t.Parallel()
	for chat, wait := range map[int64]time.Duration{1: 8 * sec, -1: 18 * sec} {
		inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
			album := message(chat)
			album.Items = 10
			w.deliver(message(chat))
			start := 3 * sec
			require.Equal(t, start, w.deliver(album), "once the chat is whole again")
			require.Equal(t, wait, w.paced(message(chat)))
		})
	}
}

func TestBatchAboveTheBotsWindowGetsThrough(t *testing.T) {
	t.Parallel()
	inWorld(t, botOnly(), func(t *testing.T, w *world) {
		for chat := range int64(40) {
			w.spawn(message(chat+1), 40*time.Millisecond)
		}
		batch := message(1000)
		batch.Items, batch.Class = 100, limiter.Bulk
		w.spawn(batch, 0)
		w.callers.Wait()
		require.Less(t, w.times(1000)[0], 4*sec)
		require.NoError(t, w.windows(limiter.Config{GlobalPerSecond: 28}))
		require.NoError(t, w.pace(28, everything))
	})
}

func TestGroupsAreChargedForWhatAKilledProcessMayHaveSent(t *testing.T) {
	t.Parallel()
	cfg := chatsOnly()
	cfg.GroupCharge = 10
	inWorld(t, cfg, func(t *testing.T, w *world) {
		require.Zero(t, w.deliver(message(1)), "a private chat is not charged")
		for range 11 {
			w.spawn(message(-1), 0)
		}
		w.callers.Wait()
		at := w.times(-1)
		require.Equal(t, 3*sec, at[0], "no burst")
		require.Equal(t, 30*sec, at[9])
		require.Equal(t, 60*sec, at[10], "10 of the minute were charged")
		require.Equal(t, at[10], w.deliver(message(-2)), "a minute after New nothing is charged")
	})
}

func TestOneCallPerChatIsInTheAirEvenWithoutLimits(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(t *testing.T, w *world) {
		for range 3 {
			w.spawn(message(1), sec)
		}
		w.callers.Wait()
		require.Equal(t, []time.Duration{0, sec, 2 * sec}, w.times(1))
		require.Equal(t, -1, w.Stats().Tokens)
	})
}

func TestCallsInTheAirAreBounded(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{InFlight: 2}, func(t *testing.T, w *world) {
		for chat := range int64(5) {
			w.spawn(message(chat+1), 20*sec)
		}
		w.pass(sec)
		require.Equal(t, 2, w.Stats().InAir)
		require.Equal(t, 3, w.Stats().Waiting[limiter.Normal], "they wait for the bot and hold their slots")
		w.callers.Wait()
		require.Equal(t, []time.Duration{40 * sec}, w.times(5))
	})
}

func TestThroughputReachesTheLimit(t *testing.T) {
	t.Parallel()
	for _, latency := range []time.Duration{0, 40 * time.Millisecond} {
		inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
			for chat := range int64(1700) {
				w.spawn(message(chat+1), latency)
			}
			w.pass(time.Minute)
			require.GreaterOrEqual(t, w.count(), 28*60*95/100, "latency %v", latency)
			w.callers.Wait()
			require.NoError(t, w.pace(28, everything))
		})
	}
}

func TestChatsSeenAreNotChatsRemembered(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		for chat := range int64(20_000) {
			w.deliver(message(chat + 1))
			require.LessOrEqual(t, w.Stats().Chats, 3*28+1)
		}
		w.pass(3 * sec)
		require.Zero(t, w.Stats().Chats)
	})
}

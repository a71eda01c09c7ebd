package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func TestPenaltyEndsExactlyAndWithOneProbe(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1, Method: "sendPhoto"}, 4*sec)
		free := message(1)
		free.Counts = false
		for range 3 {
			w.spawn(message(1), 0)
		}
		w.spawn(free, sec/2)
		w.callers.Wait()
		require.Equal(t, []time.Duration{4 * sec, 13 * sec / 2, 17 * sec / 2, 21 * sec / 2}, w.times(1),
			"the probe alone, then half of one a second")
		require.NoError(t, w.silence())
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestGroupGoesOnEvenlyAfterAPenalty(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: -1}, 100*sec)
		for range 5 {
			w.spawn(message(-1), 0)
		}
		w.callers.Wait()
		require.Equal(t, []time.Duration{100 * sec, 106 * sec, 112 * sec, 118 * sec, 124 * sec}, w.times(-1), "at half the rate")
	})
}

func TestPenaltyOnOneChatLeavesTheOthersAtFullSpeed(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1001}, 30*sec)
		w.spawn(message(1001), 0)
		for chat := range int64(200) {
			w.spawn(message(chat+1), 10*time.Millisecond)
		}
		w.pass(10 * sec)
		require.Equal(t, 200, w.count())
		w.callers.Wait()
		require.Equal(t, []time.Duration{30 * sec}, w.times(1001))
	})
}

func TestLongPenaltySendsThoseWhoWaitAway(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		for i := range 2 {
			w.callers.Go(func() { require.Equal(t, time.Hour+2*time.Duration(i+1)*sec, w.paced(message(1))) })
			w.pass(0)
		}
		w.penalize(limiter.Scope{Chat: 1}, time.Hour)
		w.callers.Wait()
		require.Zero(t, w.now(), "at once")
		g.Done()
	})
}

func TestShorterPenaltyNeverReplacesALongerOne(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, 4*sec)
		w.penalize(limiter.Scope{Chat: 1}, 1*sec)
		require.Equal(t, 4*sec, w.deliver(message(1)))
	})
}

func TestRefusedProbeIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, 1*sec)
		probe, s := w.acquire(message(1))
		w.penalize(limiter.Scope{Chat: 1}, 2*sec)
		w.end(s)
		probe.Done()
		second, s := w.acquire(message(1))
		require.Equal(t, 3*sec, s.at)
		second.Cancel()
		w.forget(s)
		require.Len(t, w.Stats().Penalties, 1, "a probe that never left proves nothing")
		require.Equal(t, 3*sec, w.deliver(message(1)))
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestPenaltyOnTheBotHoldsEveryoneInPlace(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, 50*sec)
		for chat := range int64(10) {
			w.spawn(message(chat), sec)
		}
		free := message(99)
		free.Counts = false
		w.spawn(free, 0)
		w.pass(49 * sec)
		require.Equal(t, 11, w.Stats().Waiting[limiter.Normal])
		w.callers.Wait()
		require.NoError(t, w.silence())
		require.NoError(t, w.pace(28, everything))
		require.Equal(t, 50*sec, w.sends[0].at)
	})
}

func TestThreeChatsRefusedTogetherMeanTheBot(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for chat, wait := range []time.Duration{3 * sec, 9 * sec, 5 * sec} {
			w.pass(sec)
			w.penalize(limiter.Scope{Chat: int64(chat + 1)}, wait)
		}
		require.Equal(t, 11*sec, w.deliver(message(99)), "the largest of the three")
	})
}

// refuseThree has the calls to three chats refused, after do has been done.
func (w *world) refuseThree(do func()) {
	var air []*limiter.Grant
	for chat := range int64(3) {
		g, _ := w.acquire(message(chat + 1))
		air = append(air, g)
		w.pass(sec / 10)
	}
	for chat, g := range air {
		if chat == 2 {
			do()
		}
		w.penalize(limiter.Scope{Chat: int64(chat + 1), Method: "sendMessage"}, 5*sec)
		g.Done()
	}
}

func TestChatsRefusedWhileOthersAreAnsweredDoNotMeanTheBot(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.refuseThree(func() { w.deliver(message(50)) })
		at := w.now()
		require.Equal(t, at, w.deliver(message(99)), "it went after two of them, and was taken")
	})
}

func TestACallThatWentBeforeTheRefusedOnesProvesNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		before, s := w.acquire(message(50))
		w.pass(sec / 10)
		w.refuseThree(func() { w.end(s); before.Done() })
		until := w.now() + 5*sec
		require.Equal(t, until, w.deliver(message(99)))
	})
}

func TestARequestWithoutAnAnswerProvesNothing(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.refuseThree(func() {
			lost, s := w.acquire(message(50))
			w.end(s)
			lost.Lost()
		})
		until := w.now() + 5*sec
		require.Equal(t, until, w.deliver(message(99)))
	})
}

func TestChatsRefusedApartDoNotMeanTheBot(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for _, chat := range []int64{1, 2, 2, 2, 1} {
			w.penalize(limiter.Scope{Chat: chat}, time.Minute)
		}
		w.pass(2*sec + 1)
		w.penalize(limiter.Scope{Chat: 3}, time.Minute)
		require.Equal(t, 2*sec+1, w.deliver(message(99)))
	})
}

func TestPenaltyOnAMethodHoldsThatMethodOnly(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		contact := message(1)
		contact.Method = "sendContact"
		scope := limiter.Scope{Method: "sendContact"}
		w.penalize(scope, time.Hour)
		require.Equal(t, time.Hour, w.paced(contact))
		require.Zero(t, w.deliver(message(1)), "its place holds nobody")
		w.pass(time.Hour - sec)
		w.spawn(contact, 2*sec)
		other := contact
		other.Chat = 2
		w.spawn(other, 2*sec)
		w.callers.Wait()
		require.ElementsMatch(t, []time.Duration{time.Hour, time.Hour + 2*sec}, []time.Duration{w.times(1)[1], w.times(2)[0]}, "one after the other's probe")
		require.NoError(t, w.silence())
	})
}

func TestCallThatSpendsNothingWaitsForPenaltiesOnly(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		g, _ := w.acquire(message(1))
		start := w.now()
		free := limiter.Request{Chat: 1, Method: "deleteMessage", Class: limiter.Bulk}
		for range 1000 {
			require.Equal(t, start, w.deliver(free))
		}
		g.Done()
		w.penalize(limiter.Scope{Chat: 1}, 6*sec)
		require.Equal(t, 6*sec, w.paced(free))
		w.pass(2 * sec)
		require.Equal(t, start+6*sec, w.deliver(free))
	})
}

func TestEndedPenaltyOfAnIdleChatIsForgotten(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, time.Hour)
		w.pass(time.Hour + 59*sec)
		require.Equal(t, limiter.Scope{Chat: 1}, w.Stats().Penalties[0].Scope)
		require.Equal(t, w.start.Add(time.Hour), w.Stats().Penalties[0].Until)
		w.pass(sec)
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestAGrantStandsUntilAPenaltyBeginsThatHoldsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scope  limiter.Scope
		stands bool
	}{
		"its chat":                 {limiter.Scope{Chat: 1, Method: "sendMessage"}, false},
		"another method of it":     {limiter.Scope{Chat: 1, Method: "sendPhoto"}, false},
		"its method":               {limiter.Scope{Method: "sendMessage"}, false},
		"the bot":                  {limiter.Scope{}, false},
		"another chat":             {limiter.Scope{Chat: 2, Method: "sendMessage"}, true},
		"another method elsewhere": {limiter.Scope{Method: "sendPhoto"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
				g, _ := w.acquire(message(1))
				require.True(t, g.Stands())
				w.penalize(c.scope, 3*sec)
				require.Equal(t, c.stands, g.Stands())
				w.pass(3 * sec)
				require.True(t, g.Stands(), "it is over")
				g.Cancel()
			})
		})
	}
}

func TestAProbeAndAScoutStand(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1, Method: "sendPhoto"}, 2*time.Minute)
		scout, _ := w.acquire(message(1))
		require.True(t, scout.Stands())
		scout.Cancel()
		w.pass(2 * time.Minute)
		probe, _ := w.acquire(message(1))
		require.True(t, probe.Stands())
		probe.Done()
	})
}

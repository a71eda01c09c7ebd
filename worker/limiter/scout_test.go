package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// contact is a call of a method that Telegram limits more than others.
func contact(chat int64) limiter.Request {
	req := message(chat)
	req.Method = "sendContact"
	return req
}

var contacts = limiter.Scope{Chat: 1, Method: "sendContact"}

func TestLongPenaltyNarrowsWhenAnotherMethodGetsThrough(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		until := time.Now().Add(time.Hour)
		w.penalize(contacts, time.Hour)
		early := contact(1)
		early.Since = time.Now().Add(-1)
		require.Equal(t, time.Hour, w.paced(early), "its place is kept")
		scout, s := w.acquire(message(1))
		require.Zero(t, s.at)
		w.spawn(message(1), 0)
		require.Empty(t, w.times(1)[1:], "one scout")
		w.pass(sec)
		scout.Done()
		w.end(s)
		w.callers.Wait()
		require.Equal(t, []time.Duration{0, 3 * sec}, w.times(1), "then the even rate")
		require.Equal(t, []limiter.Penalty{{Scope: contacts, Until: until}}, w.Stats().Penalties)
		require.Equal(t, until, w.Until(contacts))
		require.Zero(t, w.Until(limiter.Scope{Chat: 1}))
		_, err := w.Acquire(t.Context(), contact(1))
		require.Equal(t, &limiter.Paced{Delay: time.Hour - 3*sec, MethodOnly: true}, err)
		w.pass(time.Hour)
		require.Equal(t, time.Hour+3*sec, w.deliver(contact(1)))
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestRefusedScoutConfirmsTheChat(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		scout, s := w.acquire(message(1))
		w.callers.Go(func() { require.Equal(t, 2*time.Hour+2*sec, w.paced(message(1))) })
		w.pass(0)
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, 2*time.Hour)
		w.end(s)
		scout.Done()
		w.pass(1)
		photo := message(1)
		photo.Method = "sendPhoto"
		require.Greater(t, w.paced(photo), 2*time.Hour, "no second scout")
		require.Equal(t, []limiter.Penalty{{Scope: limiter.Scope{Chat: 1}, Until: w.start.Add(2 * time.Hour)}}, w.Stats().Penalties)
		w.pass(3 * time.Hour)
		w.penalize(contacts, time.Hour)
		require.Equal(t, 3*time.Hour+1, w.deliver(message(1)), "a new penalty is scouted anew")
	})
}

func TestPenaltyOfAMinuteHasNoScout(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Minute)
		require.Equal(t, time.Minute, w.paced(message(1)))
		w.penalize(contacts, time.Minute+1)
		require.Zero(t, w.deliver(message(1)))
	})
}

func TestScoutThatNeverLeftLetsAnotherGo(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		for range 3 {
			scout, s := w.acquire(message(1))
			scout.Cancel()
			w.forget(s)
		}
		require.Equal(t, limiter.Scope{Chat: 1}, w.Stats().Penalties[0].Scope)
		w.deliver(message(1))
		require.Equal(t, contacts, w.Stats().Penalties[0].Scope)
	})
}

func TestScoutOvertakesWaitingCallsOfTheRefusedMethod(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		g, s := w.acquire(contact(1))
		for range 3 {
			w.spawn(contact(1), 0)
		}
		w.spawn(message(1), 0)
		w.pass(sec)
		w.penalize(contacts, 100*sec)
		w.end(s)
		g.Done()
		w.pass(0)
		require.Equal(t, []time.Duration{0, sec}, w.times(1), "the last in line, at once")
		w.pass(50 * sec)
		start := w.now()
		require.Equal(t, start, w.deliver(message(1)), "the places of the refused are given up")
		w.callers.Wait()
		require.NoError(t, w.silence())
	})
}

func TestScoutWaitsForItsChatsWindow(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 3 {
			w.deliver(message(1))
		}
		w.penalize(contacts, time.Hour)
		scout := message(1)
		scout.Since = time.Now()
		require.Equal(t, 6*sec, w.paced(scout), "at half the rate the window is twice as long")
		w.pass(6 * sec)
		require.Equal(t, 6*sec, w.deliver(scout))
	})
}

func TestCallsThatDoNotCountNeitherScoutNorWaitForHours(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		free := limiter.Request{Chat: 1, Method: "deleteMessage"}
		require.Equal(t, time.Minute, w.paced(free), "the penalty may narrow meanwhile")
		w.deliver(message(1))
		require.Zero(t, w.deliver(free))
	})
}

func TestCallsBehindALateScoutComeBack(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		scout, s := w.acquire(message(1))
		require.Equal(t, 5*sec, w.paced(message(1)))
		require.Equal(t, 5*sec, w.now())
		w.pass(2 * time.Hour)
		w.end(s)
		scout.Done()
		require.Empty(t, w.Stats().Penalties, "so late that it was the probe")
	})
}

func TestPenaltyWidensAgainFromAMethodToTheChat(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		w.deliver(message(1))
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, 10*sec)
		photo := message(1)
		photo.Method, photo.Since = "sendPhoto", time.Now()
		require.Equal(t, 10*sec, w.paced(photo))
		require.Len(t, w.Stats().Penalties, 2, "the narrow one stays")
		w.pass(10 * sec)
		w.deliver(photo)
		require.Equal(t, contacts, w.Stats().Penalties[0].Scope)
		w.pass(time.Hour)
		probe, s := w.acquire(contact(1))
		w.penalize(contacts, 100*sec)
		w.end(s)
		probe.Done()
		require.Len(t, w.Stats().Penalties, 2, "its probe was refused")
		w.deliver(message(1))
		require.Equal(t, w.start.Add(time.Hour+110*sec), w.Until(contacts))
	})
}

func TestEachRefusedMethodStaysSilent(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(contacts, time.Hour)
		w.penalize(limiter.Scope{Chat: 1, Method: "sendDice"}, time.Minute)
		w.deliver(message(1))
		until := w.start.Add(time.Hour)
		require.Equal(t, []limiter.Penalty{
			{Scope: contacts, Until: until}, {Scope: limiter.Scope{Chat: 1, Method: "sendDice"}, Until: until},
		}, w.Stats().Penalties)
	})
}

func TestRefusedProbeOfTheBotIsFollowedByAnother(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, sec)
		probe, s := w.acquire(message(1))
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, time.Hour)
		w.end(s)
		probe.Done()
		second, s := w.acquire(message(2))
		require.Equal(t, sec, s.at, "the chat's hour is not the bot's")
		w.spawn(message(3), 0)
		require.Empty(t, w.times(3), "the bot is not free yet")
		w.end(s)
		second.Done()
		w.callers.Wait()
		require.NoError(t, w.silence())
	})
}

func TestEndedPenaltyOnAMethodNobodyCallsIsForgotten(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		poll := limiter.Scope{Method: "getUpdates"}
		w.penalize(poll, 7*sec)
		require.Equal(t, w.start.Add(7*sec), w.Until(poll))
		w.pass(67 * sec)
		require.Zero(t, w.Until(poll))
	})
}

func TestPenaltyIsSignalled(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 2 {
			w.penalize(contacts, time.Hour)
		}
		require.Len(t, w.Changed(), 1)
		<-w.Changed()
		w.deliver(message(1))
		require.Len(t, w.Changed(), 1, "it has narrowed")
	})
}

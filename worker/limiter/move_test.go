package limiter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func (w *world) moved(req limiter.Request, to int64) {
	w.t.Helper()
	_, err := w.Acquire(w.t.Context(), req)
	require.Equal(w.t, &limiter.Moved{To: to}, err)
}

func TestMovedChatTakesItsWindowsAlong(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 4 {
			w.deliver(message(-1))
		}
		g, s := w.acquire(message(-1))
		w.deliver(message(-11))
		w.callers.Go(func() { w.moved(message(-1), -11) })
		w.pass(sec)
		w.Move(-1, -11)
		w.callers.Wait()
		require.Equal(t, sec, w.now(), "who waits is told at once")
		w.spawn(message(-11), 0)
		require.Empty(t, w.times(-11)[1:], "one in the air")
		w.end(s)
		g.Done()
		w.callers.Wait()
		require.Equal(t, []time.Duration{0, 3 * sec}, w.times(-11), "five at once have been")
		w.moved(message(-1), -11)
		require.Equal(t, 1, w.Stats().Chats)
	})
}

func TestMovedChatTakesItsPenaltiesAlong(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		narrow := limiter.Scope{Chat: -1, Method: "sendContact"}
		w.penalize(narrow, time.Hour)
		w.deliver(message(-1))
		w.penalize(limiter.Scope{Chat: -1}, 10*sec)
		w.penalize(limiter.Scope{Chat: -11}, 20*sec)
		free := limiter.Request{Chat: -1, Method: "deleteMessage"}
		w.Move(-1, -11)
		w.moved(free, -11)
		require.Equal(t, []limiter.Penalty{
			{Scope: limiter.Scope{Chat: -11}, Until: w.start.Add(20 * sec)},
			{Scope: limiter.Scope{Chat: -11, Method: "sendContact"}, Until: w.start.Add(time.Hour)},
		}, w.Stats().Penalties, "the later end counts")
		require.Equal(t, []limiter.Learned{{Chat: -11, Share: 0.25}}, w.Stats().Learned)
		w.penalize(limiter.Scope{Chat: -1}, 30*sec)
		require.Equal(t, w.start.Add(30*sec), w.Until(limiter.Scope{Chat: -11}), "a late 429 finds the chat")
	})
}

func TestLaterEndOfTwoPenaltiesCountsAfterAMove(t *testing.T) {
	t.Parallel()
	for _, ends := range [][2]time.Duration{{100 * sec, 200 * sec}, {200 * sec, 100 * sec}} {
		inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
			w.penalize(limiter.Scope{Chat: -1, Method: "sendContact"}, ends[0])
			w.penalize(limiter.Scope{Chat: -11, Method: "sendDice"}, ends[1])
			w.Move(-1, -11)
			require.Equal(t, 200*sec, w.paced(contact(-11)))
			w.deliver(message(-11))
			require.Len(t, w.Stats().Penalties, 2, "both methods were refused")
			require.NoError(t, w.silence())
		})
	}
}

func TestLessonOfAMovedChatIsKnownUnderItsNewName(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.deliver(message(-1))
		w.penalize(limiter.Scope{Chat: -1}, 0)
		w.deliver(message(-11))
		w.Move(-1, -11)
		require.Equal(t, []limiter.Learned{{Chat: -11, Share: 0.5}}, w.Stats().Learned)
	})
}

func TestProbeThatSpendsNothingIsStillTheMovedChatsProbe(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: -1}, sec)
		probe, s := w.acquire(limiter.Request{Chat: -1, Method: "deleteMessage"})
		w.Move(-1, -11)
		w.end(s)
		probe.Done()
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestProbeOfAMovedChatIsStillItsProbe(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: -1}, sec)
		probe, s := w.acquire(message(-1))
		free := limiter.Request{Chat: -1, Method: "deleteMessage"}
		w.callers.Go(func() { w.moved(free, -11) })
		w.pass(0)
		w.Move(-1, -11)
		free.Chat = -11
		w.spawn(free, 0)
		require.Empty(t, w.times(-11), "it goes alone")
		w.end(s)
		probe.Done()
		w.callers.Wait()
		require.Empty(t, w.Stats().Penalties)
	})
}

func TestMovedChatTakesItsEditsAlong(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(_ *testing.T, w *world) {
		old, older := edit(-1), edit(-2)
		w.pass(1)
		w.deliver(edit(-1))
		w.deliver(edit(-12))
		w.pass(1)
		w.deliver(edit(-11))
		w.deliver(edit(-2))
		w.Move(-1, -11)
		w.Move(-2, -12)
		old.Chat, older.Chat = -11, -12
		old.Since, older.Since = old.Since.Add(1), older.Since.Add(1) // between the two
		w.superseded(old)
		w.superseded(older)
	})
}

func TestMoveIsRememberedForAnHour(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.Move(-1, -11)
		w.pass(time.Hour - 1)
		w.moved(message(-1), -11)
		w.Move(-2, -12)
		w.pass(1)
		w.deliver(message(-1))
		w.moved(message(-2), -12)
		require.ErrorContains(t, &limiter.Moved{To: -12}, "-12")
	})
}

func TestMovesFollowEachOtherAndNeverInACircle(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.Config{}, func(_ *testing.T, w *world) {
		w.Move(-1, -2)
		w.Move(-2, -3)
		w.moved(message(-1), -3)
		w.Move(-3, -1)
		w.moved(message(-2), -1)
		w.moved(message(-3), -1)
		w.deliver(message(-1))
		w.Move(-1, -1)
		w.Move(0, -1)
		w.Move(-1, 0)
		w.deliver(message(-1))
	})
}

func TestPlacesOfAMovedChatHoldNobody(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		told, delay := w.toldToWait()
		w.pass(delay)
		w.Move(-1, -11)
		w.deliver(message(-11))
		w.moved(told, -11)
		w.pass(time.Hour)
		require.Zero(t, w.Stats().Chats)
	})
}

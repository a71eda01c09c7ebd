package limiter_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// edit is a call that changes the chat's message 17, and was made just now.
func edit(chat int64) limiter.Request {
	req := message(chat)
	req.Method, req.Edits, req.Since = "editMessageText", "editMessageText/17", time.Now()
	return req
}

func (w *world) superseded(req limiter.Request) {
	w.t.Helper()
	_, err := w.Acquire(w.t.Context(), req)
	require.ErrorIs(w.t, err, limiter.ErrSuperseded)
}

func TestNewerEditTakesThePlaceOfOneThatWaits(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		g, s := w.acquire(message(1))
		old := edit(1)
		w.callers.Go(func() {
			w.superseded(old)
			require.Equal(t, time.Duration(2), w.now(), "at once")
		})
		w.pass(1)
		w.spawn(message(1), 0)
		w.pass(1)
		w.spawn(edit(1), 0)
		w.end(s)
		g.Done()
		w.callers.Wait()
		require.Equal(t, "editMessageText", w.sends[1].Method, "in front of what came between")
		require.Len(t, w.sends, 3)
		require.NoError(t, w.newest())
	})
}

func TestNewerEditTakesThePlaceThatAnOlderKeeps(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 5 {
			w.deliver(message(-1))
		}
		w.spawn(message(-1), 0)
		w.pass(1)
		old := edit(-1)
		require.Equal(t, 6*sec-1, w.paced(old))
		w.pass(1)
		require.Equal(t, 9*sec-2, w.paced(message(-1)))
		newer := edit(-1)
		require.Equal(t, 6*sec-2, w.paced(newer), "in front of what came between")
		w.pass(6 * sec)
		w.superseded(old)
		require.Equal(t, 6*sec+2, w.deliver(newer))
		w.callers.Wait()
	})
}

func TestStreamOfEditsDoesNotStarveItself(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 60 * 20 { // with others in the same chat
			w.spawn(edit(-1), 0)
			if w.now()%sec == 0 {
				w.spawn(message(-1), 0)
			}
			w.pass(50 * time.Millisecond)
		}
		w.callers.Wait()
		shown := 0
		for _, s := range w.sends {
			if s.Edits != "" && s.at < time.Minute {
				shown++
			}
		}
		require.GreaterOrEqual(t, shown, 3)
		require.NoError(t, w.newest())
		require.NoError(t, w.windows(chatsOnly()))
	})
}

func TestOlderEditThatComesBackIsSuperseded(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1, Method: "editMessageText"}, 100*sec)
		w.deliver(message(1))
		old := edit(1)
		require.Equal(t, 100*sec, w.paced(old))
		w.pass(200 * sec)
		w.deliver(edit(1))
		w.superseded(old)
		other := old
		other.Edits = "editMessageCaption/17"
		w.deliver(other)
		other.Chat = 2
		w.deliver(other)
	})
}

func TestEditInTheAirIsLetBe(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		old := edit(1)
		g, s := w.acquire(old)
		w.pass(sec)
		newer := edit(1)
		w.spawn(newer, 0)
		w.end(s)
		g.Done()
		w.callers.Wait()
		require.Equal(t, []time.Duration{0, sec}, w.times(1))
		w.superseded(old)
		w.deliver(newer) // it is itself: a retry
	})
}

func TestNewestEditThatComesBackFindsItsPlace(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		g, s := w.acquire(message(1))
		w.callers.Go(func() { w.superseded(edit(1)) })
		w.pass(1)
		w.spawn(message(1), 0)
		w.pass(1)
		newer := edit(1)
		ctx, cancel := context.WithTimeout(t.Context(), sec)
		defer cancel()
		_, err := w.Acquire(ctx, newer)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		w.spawn(newer, 0)
		w.end(s)
		g.Done()
		w.callers.Wait()
		require.Equal(t, "editMessageText", w.sends[1].Method)
	})
}

func TestEditIsForgottenAfterAQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		old := edit(1)
		w.pass(1)
		w.deliver(edit(1))
		w.pass(15*time.Minute - 1)
		w.superseded(old)
		require.Equal(t, 1, w.Stats().Chats)
		w.pass(15*time.Minute - 1)
		require.Equal(t, 1, w.Stats().Chats, "it was seen")
		w.pass(1)
		require.Zero(t, w.Stats().Chats)
		w.deliver(old)
	})
}

func TestEditOfABusyChatIsForgottenToo(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		old := edit(1)
		w.pass(1)
		w.deliver(edit(1))
		for range 15 {
			w.pass(time.Minute)
			busy := edit(1)
			busy.Edits = "editMessageText/18"
			w.deliver(busy)
		}
		w.deliver(old)
	})
}

func TestEditWhoseCallIsAwayIsNotForgotten(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, time.Hour)
		old := edit(1)
		require.Equal(t, time.Hour, w.paced(old))
		w.pass(1)
		newer := edit(1)
		require.GreaterOrEqual(t, w.paced(newer), time.Hour-1)
		w.pass(time.Hour + 10*time.Minute)
		w.superseded(old)
		w.deliver(newer)
	})
}

func TestEditIsRememberedHoweverLongItsCallWaits(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(_ *testing.T, w *world) {
		w.hold("paused")
		old, between := edit(1), edit(1)
		between.Since = between.Since.Add(1)
		w.callers.Go(func() { w.superseded(between) })
		w.pass(20 * time.Minute)
		other := edit(1)
		other.Edits = "editMessageText/18"
		w.spawn(other, 0) // at its entry what is old is forgotten
		w.spawn(edit(1), 0)
		w.pass(20 * time.Minute)
		w.release("paused")
		w.callers.Wait()
		w.pass(2 * time.Minute)
		w.superseded(old)
	})
}

func TestCallsThatCannotCoalesceDoNot(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for _, change := range []func(*limiter.Request){
			func(r *limiter.Request) { r.Chat = 0 },
			func(r *limiter.Request) { r.Counts = false },
			func(r *limiter.Request) { r.Edits = "" },
			func(r *limiter.Request) { r.Transient = true },
		} {
			old := edit(1)
			change(&old)
			w.pass(10 * sec)
			newer := edit(1)
			change(&newer)
			w.deliver(newer)
			w.deliver(old)
		}
	})
}

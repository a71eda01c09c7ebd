package limiter_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

func TestWindowsOutliveAHandOver(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 3 {
			w.deliver(message(1))
		}
		for range 4 {
			w.deliver(message(-1))
		}
		w.acquire(message(-1)) // its answer is never seen
		w.pass(sec)
		w.handOver(chatsOnly())
		require.Equal(t, 3*sec, w.deliver(message(-1)), "the fifth counts as answered")
		require.Equal(t, 3*sec, w.deliver(message(1)))
		require.NoError(t, w.windows(chatsOnly()))
	})
}

func TestPaceOfTheBotOutlivesAHandOver(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		for chat := range int64(28) {
			w.spawn(message(chat+1), 800*time.Millisecond)
		}
		w.pass(time.Second)
		w.handOver(limiter.DefaultConfig())
		batch := message(100)
		batch.Items = 20
		w.deliver(batch)
		w.handOver(limiter.DefaultConfig())
		for chat := range int64(60) {
			w.spawn(message(chat+200), 0)
		}
		w.callers.Wait()
		require.NoError(t, w.windows(limiter.DefaultConfig()))
		require.NoError(t, w.pace(28, everything))
	})
}

func TestPenaltiesAndLessonsOutliveAHandOver(t *testing.T) {
	t.Parallel()
	inWorld(t, limiter.DefaultConfig(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{}, sec)
		w.deliver(message(1))
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, time.Hour)
		w.penalize(limiter.Scope{Chat: 2}, time.Hour)
		w.penalize(limiter.Scope{Method: "getUpdates"}, time.Minute)
		before := w.Stats()
		w.handOver(limiter.DefaultConfig())
		require.Equal(t, before.Learned, w.Stats().Learned)
		require.Len(t, before.Penalties, 3)
		for i, p := range w.Stats().Penalties {
			require.Equal(t, before.Penalties[i].Scope, p.Scope)
			require.WithinDuration(t, before.Penalties[i].Until, p.Until, 0)
		}
		require.Greater(t, w.paced(message(2)), time.Hour-sec)
		_, scout := w.acquire(contact(1))
		require.LessOrEqual(t, scout.at, 2*sec, "the scout may still go")
		w.handOver(limiter.DefaultConfig())
		require.Greater(t, w.paced(contact(1)), time.Hour-3*sec, "whether it was refused is not known")
		require.NoError(t, w.silence())
	})
}

func TestEndedPenaltyWantsItsProbeAfterAHandOver(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1}, sec)
		w.pass(30 * sec)
		w.handOver(chatsOnly())
		for range 2 {
			w.spawn(message(1), sec/2)
		}
		w.callers.Wait()
		require.NoError(t, w.silence())
		w.penalize(limiter.Scope{Chat: 2}, sec)
		w.pass(2 * time.Minute)
		w.handOver(chatsOnly())
		require.Empty(t, w.Stats().Penalties, "too long ago")
	})
}

func TestEditsAndMovesOutliveAHandOver(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		old := edit(1)
		w.deliver(edit(2))
		w.acquire(old)
		w.acquire(edit(3))
		w.pass(1)
		newer := edit(1)
		w.callers.Go(func() { require.Equal(t, sec, w.paced(newer)) })
		w.pass(0)
		w.Move(-1, -11)
		w.handOver(chatsOnly())
		w.callers.Wait()
		w.superseded(old)
		w.deliver(newer)
		w.moved(message(-1), -11)
		for _, e := range w.State().Edits {
			require.NotEqual(t, int64(2), e.Chat, "one version alone needs no memory")
		}
		require.Len(t, w.State().Edits, 2)
	})
}

func TestGroupIsChargedOnTopOfItsState(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		for range 11 {
			w.spawn(message(-1), 0)
		}
		w.callers.Wait()
		require.Equal(t, 18*sec, w.now())
		cfg := chatsOnly()
		cfg.GroupCharge = 10
		w.handOver(cfg)
		for range 2 {
			w.spawn(message(-1), 0)
		}
		for range 10 {
			w.spawn(message(-2), 0)
		}
		w.callers.Wait()
		require.Equal(t, 60*sec, w.times(-1)[11], "5 of its 11 must leave before one fits beside the 10")
		require.Equal(t, 21*sec, w.times(-2)[0], "only the burst is taken from one that was not seen")
	})
}

func TestStateOfARestoredLimiterIsTheSame(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, time.Hour)
		w.deliver(contact(1))
		w.deliver(message(2))
		w.deliver(message(-2))
		w.deliver(edit(2))
		w.pass(1)
		w.deliver(edit(2))
		w.penalize(limiter.Scope{Chat: 3, Method: "sendMessage"}, time.Hour)
		w.Move(-2, -12)
		before := w.State()
		w.handOver(chatsOnly())
		require.Equal(t, before, w.State())
		require.Len(t, before.Penalties, 2)
		require.Len(t, before.Chats, 4)
		require.Len(t, before.Edits, 1)
		require.Len(t, before.Moves, 1)
	})
}

func TestEditOfTheFutureIsNotBelieved(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(_ *testing.T, w *world) {
		later := time.Now().Add(time.Hour)
		w.Limiter = limiter.Restore(chatsOnly(), limiter.State{Edits: []limiter.EditState{
			{Chat: 1, Edits: "editMessageText/17", Newest: later, Until: later},
		}})
		w.deliver(edit(1))
	})
}

func TestStateIsReadByName(t *testing.T) {
	t.Parallel()
	inWorld(t, chatsOnly(), func(t *testing.T, w *world) {
		w.deliver(message(1))
		w.penalize(limiter.Scope{Chat: 1, Method: "sendMessage"}, 61*sec)
		raw, err := json.Marshal(w.State())
		require.NoError(t, err)
		require.JSONEq(t, `{
			"taken": "2000-01-01T00:00:00Z",
			"penalties": [{"chat": 1, "until": "2000-01-01T00:01:01Z", "refused": ["sendMessage"], "long": true}],
			"chats": [{"chat": 1, "sent": [{"at": "2000-01-01T00:00:00Z", "n": 1}], "repaid": "2000-01-01T00:00:02Z",
				"lesson": {"share": 0.5, "since": "2000-01-01T00:01:01Z"}}]
		}`, string(raw))
	})
}

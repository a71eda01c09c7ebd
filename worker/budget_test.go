package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/worker"
	"github.com/durabot/durabot/worker/limiter"
)

func want(p contract.Priority) activities.Want {
	return activities.Want{Chat: 42, Method: "sendMessage", Items: 1, Counts: true, Priority: p}
}

func newBudget(t *testing.T, l *limiter.Limiter) activities.Budget {
	t.Helper()
	return worker.NewBudget(l, newMetrics(t))
}

func TestAPriorityIsAClass(t *testing.T) {
	t.Parallel()
	for priority, class := range map[contract.Priority]limiter.Class{
		contract.Urgent: limiter.Urgent, contract.Normal: limiter.Normal, contract.Bulk: limiter.Bulk, "": limiter.Normal, "new": limiter.Normal,
	} {
		l := limiter.New(limiter.DefaultConfig())
		grant, err := newBudget(t, l).Acquire(t.Context(), want(priority))
		require.NoError(t, err)
		require.Equal(t, uint64(1), l.Stats().Granted[class])
		require.Equal(t, 1, l.Stats().InAir)
		grant.Done()
		require.Zero(t, l.Stats().InAir)
	}
}

// rested returns a limiter whose windows are known to be empty, and its tokens.
func rested() (*limiter.Limiter, int) {
	l := limiter.New(limiter.DefaultConfig())
	time.Sleep(time.Minute) // of a bubble
	return l, l.Stats().Tokens
}

func TestAGrantThatWasNotUsedIsGivenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, tokens := rested()
		grant, err := newBudget(t, l).Acquire(t.Context(), want(""))
		require.NoError(t, err)
		require.Equal(t, tokens-1, l.Stats().Tokens)
		grant.Cancel()
		require.Equal(t, tokens, l.Stats().Tokens)
	})
}

func TestABroadcastHasItsOwnPaceAndMayBePaidFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, tokens := rested()
		paid := want(contract.Bulk)
		paid.Flow, paid.FlowRate, paid.Paid = "news", 0.5, true
		start := time.Now()
		for n := range 2 {
			_, err := newBudget(t, l).Acquire(t.Context(), paid)
			require.NoError(t, err)
			require.Equal(t, time.Duration(n+1)*2*time.Second, time.Since(start))
			paid.Chat++
		}
		require.Equal(t, tokens, l.Stats().Tokens, "the free budget is whole")
	})
}

func TestAPacedCallIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.DefaultConfig())
		b := newBudget(t, l)
		b.Penalize(42, "", time.Now().Add(time.Minute))
		_, err := b.Acquire(t.Context(), want(""))
		var back interface{ RetryIn() time.Duration }
		require.ErrorAs(t, err, &back)
		require.GreaterOrEqual(t, back.RetryIn(), time.Minute)
		require.Less(t, back.RetryIn(), 2*time.Minute)
		l.Stop()
		_, err = b.Acquire(t.Context(), want(""))
		require.ErrorAs(t, err, &back, "a stop is no failure either")
		require.Positive(t, back.RetryIn())
	})
}

func TestOtherErrorsOfTheLimiterGoThrough(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	grant, err := newBudget(t, limiter.New(limiter.DefaultConfig())).Acquire(ctx, want(""))
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, grant)
	var back interface{ RetryIn() time.Duration }
	require.NotErrorAs(t, err, &back)
}

func TestAPenaltyKeepsItsScope(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chat   int64
		method string
		want   limiter.Scope
	}{
		"chat":             {42, "", limiter.Scope{Chat: 42}},
		"method":           {0, "setMyCommands", limiter.Scope{Method: "setMyCommands"}},
		"the bot":          {0, "", limiter.Scope{}},
		"a group's number": {-100123, "", limiter.Scope{Chat: -100123}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limiter.New(limiter.DefaultConfig())
			until := time.Now().Add(time.Minute)
			newBudget(t, l).Penalize(c.chat, c.method, until)
			penalties := l.Stats().Penalties
			require.Len(t, penalties, 1)
			require.Equal(t, c.want, penalties[0].Scope)
			require.WithinDuration(t, until, penalties[0].Until, 5*time.Second)
			require.False(t, penalties[0].Until.Before(until.Add(-time.Millisecond)), "never early")
		})
	}
}

func TestACallIsCountedByItsItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, tokens := rested()
		album := want("")
		album.Items = 3
		_, err := newBudget(t, l).Acquire(t.Context(), album)
		require.NoError(t, err)
		require.Equal(t, tokens-3, l.Stats().Tokens)
		free := want("")
		free.Counts, free.Chat = false, 0
		_, err = newBudget(t, l).Acquire(t.Context(), free)
		require.NoError(t, err)
		require.Equal(t, tokens-3, l.Stats().Tokens)
	})
}

func TestTheLimitersAnswersKeepTheirMeaning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _ := rested()
		b := newBudget(t, l)
		typing := want("")
		typing.Method, typing.Transient = "sendChatAction", true
		grant, err := b.Acquire(t.Context(), want(""))
		require.NoError(t, err)
		_, err = b.Acquire(t.Context(), typing)
		require.ErrorIs(t, err, activities.ErrDropped, "the chat is not free")
		grant.Done()

		edit := want("")
		edit.Method, edit.Edits, edit.Since = "editMessageText", "editMessageText/7", time.Now()
		grant, err = b.Acquire(t.Context(), edit)
		require.NoError(t, err)
		grant.Done()
		edit.Since = edit.Since.Add(-time.Second)
		_, err = b.Acquire(t.Context(), edit)
		require.ErrorIs(t, err, activities.ErrSuperseded, "a newer one has been sent")

		b.Move(42, -100)
		_, err = b.Acquire(t.Context(), want(""))
		var moved *activities.MovedTo
		require.ErrorAs(t, err, &moved)
		require.Equal(t, int64(-100), moved.To)

		b.Penalize(0, "setMyCommands", time.Now().Add(time.Minute))
		commands := activities.Want{Method: "setMyCommands"}
		_, err = b.Acquire(t.Context(), commands)
		var back interface{ MethodOnly() bool }
		require.ErrorAs(t, err, &back)
		require.True(t, back.MethodOnly())
	})
}

func TestFiguresNameChatsAsTextAndNothingAsEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, tokens := rested()
		f := worker.Figures(l.Stats())
		require.Equal(t, contract.LimiterFigures{
			GlobalPerSecond: 28, PaidPerSecond: 1000, Tokens: tokens,
			Waiting:   map[contract.Priority]int{contract.Urgent: 0, contract.Normal: 0, contract.Bulk: 0},
			Penalties: []contract.Penalty{}, Learned: []contract.LearnedRate{}, Held: []string{},
		}, f)
		until := time.Now().Add(time.Minute)
		b := newBudget(t, l)
		b.Penalize(-1001234567890, "sendMessage", until)
		b.Penalize(0, "getUpdates", until.Add(time.Second))
		l.Hold("paused")
		f = worker.Figures(l.Stats())
		require.Len(t, f.Penalties, 2)
		require.Equal(t, "-1001234567890", f.Penalties[0].ChatID)
		require.True(t, until.Equal(f.Penalties[0].Until))
		require.Equal(t, contract.Penalty{Method: "getUpdates", Until: f.Penalties[1].Until}, f.Penalties[1])
		require.Len(t, f.Learned, 1)
		require.Equal(t, "-1001234567890", f.Learned[0].ChatID)
		require.InDelta(t, 0.5, f.Learned[0].Share, 0.01)
		require.Equal(t, []string{"paused"}, f.Held)
	})
}

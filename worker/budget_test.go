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

func TestAPriorityIsAClass(t *testing.T) {
	t.Parallel()
	for priority, class := range map[contract.Priority]limiter.Class{
		contract.Urgent: limiter.Urgent, contract.Normal: limiter.Normal, contract.Bulk: limiter.Bulk, "": limiter.Normal, "new": limiter.Normal,
	} {
		l := limiter.New(limiter.DefaultConfig())
		grant, err := worker.NewBudget(l).Acquire(t.Context(), want(priority))
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
		grant, err := worker.NewBudget(l).Acquire(t.Context(), want(""))
		require.NoError(t, err)
		require.Equal(t, tokens-1, l.Stats().Tokens)
		grant.Cancel()
		require.Equal(t, tokens, l.Stats().Tokens)
	})
}

func TestAPacedCallIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limiter.New(limiter.DefaultConfig())
		b := worker.NewBudget(l)
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
	grant, err := worker.NewBudget(limiter.New(limiter.DefaultConfig())).Acquire(ctx, want(""))
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
		"chat, all of it":  {42, "sendMessage", limiter.Scope{Chat: 42}},
		"method":           {0, "setMyCommands", limiter.Scope{Method: "setMyCommands"}},
		"the bot":          {0, "", limiter.Scope{}},
		"a group's number": {-100123, "", limiter.Scope{Chat: -100123}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := limiter.New(limiter.DefaultConfig())
			until := time.Now().Add(time.Minute)
			worker.NewBudget(l).Penalize(c.chat, c.method, until)
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
		_, err := worker.NewBudget(l).Acquire(t.Context(), album)
		require.NoError(t, err)
		require.Equal(t, tokens-3, l.Stats().Tokens)
		free := want("")
		free.Counts, free.Chat = false, 0
		_, err = worker.NewBudget(l).Acquire(t.Context(), free)
		require.NoError(t, err)
		require.Equal(t, tokens-3, l.Stats().Tokens)
	})
}

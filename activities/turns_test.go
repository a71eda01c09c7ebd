package activities_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

// post is the fake of Temporal's signals.
type post struct {
	mu     sync.Mutex
	sent   []letter
	answer map[string]error // by workflow ID
	then   func()           // after each signal
}

type letter struct{ to, signal, from string }

func (p *post) SignalWorkflow(_ context.Context, id, _, signal string, arg any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, letter{id, signal, arg.(string)})
	if p.then != nil {
		p.then()
	}
	return p.answer[id]
}

var second = contract.TurnInput{Self: "update/1/2", After: "update/1/1"}

func pass(t *testing.T, turns *activities.Turns, askers ...string) {
	t.Helper()
	require.NoError(t, turns.PassTurn(t.Context(), contract.PassInput{Self: second.After, Askers: askers}))
}

func TestATurnKnownToBeFreeIsTakenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		pass(t, turns)
		start := time.Now()
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
		require.Zero(t, time.Since(start))
		require.Empty(t, p.sent)
	})
}

func TestATurnPassedWithinFourSecondsNeedsNoSignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		time.AfterFunc(3900*time.Millisecond, func() { pass(t, turns) })
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
		require.Empty(t, p.sent)
		_, rooms := turns.Held()
		require.Zero(t, rooms)
	})
}

func TestAfterFourSecondsThePredecessorIsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		ours   bool
		fails  bool
	}{
		"it takes the question": {nil, false, false},
		"it is closed":          {serviceerror.NewNotFound("workflow execution already completed"), true, false},
		"nobody answers":        {serviceerror.NewUnavailable("away"), false, true},
		"no namespace":          {serviceerror.NewNamespaceNotFound("x"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &post{answer: map[string]error{second.After: c.answer}}
				turns := activities.NewTurns(p)
				start := time.Now()
				ours, err := turns.AwaitTurn(t.Context(), second)
				require.Equal(t, c.fails, err != nil)
				require.Equal(t, c.ours, ours)
				require.Equal(t, 4*time.Second, time.Since(start))
				require.Equal(t, []letter{{second.After, contract.WakeMeSignal, second.Self}}, p.sent)
				_, rooms := turns.Held()
				require.Zero(t, rooms, "a predecessor that ends elsewhere is not waited for any more")
			})
		})
	}
}

func TestATurnPassedWhileAskingIsNotMissed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		p.then = func() {
			p.then = nil
			pass(t, turns)
		}
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.True(t, ours)
	})
}

func TestAWaitInMemoryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := activities.NewTurns(&post{answer: map[string]error{second.After: context.Canceled}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := turns.AwaitTurn(ctx, second)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestTheWaitersInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		turns := activities.NewTurns(p)
		var wg sync.WaitGroup
		for i := range activities.MemoryWaiters {
			wg.Go(func() {
				ours, err := turns.AwaitTurn(t.Context(), contract.TurnInput{Self: "s" + strconv.Itoa(i), After: second.After})
				require.NoError(t, err)
				require.True(t, ours)
			})
		}
		synctest.Wait()
		start := time.Now()
		ours, err := turns.AwaitTurn(t.Context(), second)
		require.NoError(t, err)
		require.False(t, ours)
		require.Zero(t, time.Since(start), "one too many asks at once")
		pass(t, turns)
		wg.Wait()
		require.Len(t, p.sent, 1)

		ours, err = turns.AwaitTurn(t.Context(), contract.TurnInput{Self: "x", After: "unknown"})
		require.NoError(t, err)
		require.False(t, ours)
		require.Equal(t, 4*time.Second, time.Since(start), "there is room again")
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	t.Parallel()
	turns := activities.NewTurns(&post{})
	pass(t, turns)
	for i := range activities.Remembered {
		require.True(t, turns.Finished(second.After))
		require.NoError(t, turns.PassTurn(t.Context(), contract.PassInput{Self: strconv.Itoa(i)}))
	}
	require.False(t, turns.Finished(second.After), "the oldest is forgotten")
	require.True(t, turns.Finished("0"))
	done, _ := turns.Held()
	require.Equal(t, activities.Remembered, done)
}

func TestPassingTheTurnWakesWhoAsked(t *testing.T) {
	t.Parallel()
	p := &post{answer: map[string]error{"closed": serviceerror.NewNotFound("closed")}}
	turns := activities.NewTurns(p)
	pass(t, turns, "a", "closed", "b")
	pass(t, turns, "a", "closed", "b")
	want := []letter{
		{"a", contract.YourTurnSignal, second.After}, {"closed", contract.YourTurnSignal, second.After}, {"b", contract.YourTurnSignal, second.After},
	}
	require.Equal(t, append(want, want...), p.sent, "twice is harmless")
	done, _ := turns.Held()
	require.Equal(t, 1, done)
}

func TestOneWhoCannotBeWokenKeepsNobodyElseAsleep(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	p := &post{answer: map[string]error{"a": away}}
	turns := activities.NewTurns(p)
	err := turns.PassTurn(t.Context(), contract.PassInput{Self: second.After, Askers: []string{"a", "b"}})
	require.ErrorIs(t, err, away)
	require.ErrorContains(t, err, "wake a")
	require.Len(t, p.sent, 2)
	require.True(t, turns.Finished(second.After))
}

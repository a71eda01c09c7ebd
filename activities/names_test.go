package activities_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func toName(name string) contract.SendInput {
	in := message()
	in.Call.Params = json.RawMessage(`{"chat_id":"` + name + `","text":"hello"}`)
	return in
}

// another sends a call that is none of the earlier ones.
func (w *world) another(t *testing.T, call string, in contract.SendInput) (res contract.CallResult, err error) {
	t.Helper()
	inActivity(t, &attempt{n: 1, token: call, call: call}, func(ctx context.Context) { res, err = w.Send(ctx, in) })
	return res, err
}

func TestAPublicNameSpendsTheBudgetOfItsChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.names = map[string]string{"@News": "-1001234567890"}
	for _, call := range []string{"a", "b"} {
		res, err := w.another(t, call, toName("@News"))
		require.NoError(t, err)
		require.Equal(t, "@News", res.ChatID)
		require.Empty(t, res.MovedTo)
	}
	require.Equal(t, []string{"@News"}, w.api.asked, "asked once")
	require.JSONEq(t, `{"chat_id":"@News","text":"hello"}`, w.api.sent()[0].params, "the call itself is as it was")
	require.Len(t, w.budget.looks, 1)
	require.False(t, w.budget.looks[0].Counts)
	for _, want := range w.budget.wants {
		require.Equal(t, int64(-1001234567890), want.Chat)
	}
}

func TestACallToANameKnowsWhatIsKnownOfItsChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t).knowChats()
	w.api.names = map[string]string{"@news": "-100"}
	w.chats.closed = map[int64]string{-100: "kicked"}
	_, err := w.attempt(t, 1, toName("@news"))
	require.Equal(t, contract.FailureUnreachable, direct(t, err).Type())
	require.Empty(t, w.api.sent())
}

func TestANameThatTellsNoChatHasABudgetOfItsOwn(t *testing.T) {
	t.Parallel()
	for answer, asked := range map[string]int{"": 1, "away": 2, "flood": 2} {
		w := newWorld(t)
		w.api.names = map[string]string{"@news": answer}
		for _, call := range []string{"a", "b"} {
			_, err := w.another(t, call, toName("@news"))
			require.NoError(t, err)
		}
		require.Len(t, w.api.asked, asked, "only an answer is remembered")
		require.Len(t, w.api.sent(), 2)
		for _, want := range w.budget.wants {
			require.Negative(t, want.Chat)
		}
		if answer == "flood" {
			require.Len(t, w.budget.penalties, 2)
			require.Equal(t, "getChat", w.budget.penalties[0].method)
			require.Zero(t, w.budget.penalties[0].chat)
			require.GreaterOrEqual(t, time.Until(w.budget.penalties[0].until), 59*time.Second)
		}
	}
}

func TestManyCallsToOneNameAskOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.names = map[string]string{"@news": "-100"}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			_, err := w.another(t, string(rune('a'+i)), toName("@news"))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.Less(t, len(w.api.asked), 20)
	require.Len(t, w.api.sent(), 20)
}

package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// A handler that fails on one update must not take the bot, or the chat, with
// it. Only these tests catch a handler that kills its process: no test inside
// the process survives it.

func TestPoisonAHandlerThatKillsItsProcessIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.SendText(1001, "exit")
	w.SendText(1001, "after")
	for len(w.runs()) < 3 {
		before := len(w.runs())
		w.start().wait()
		require.Len(t, w.runs(), before+1)
	}
	w.start().ready()
	res, err := w.update(id)
	require.Error(t, err)
	require.Equal(t, contract.ReasonHandlerFailed, res.Reason)
	w.eventually("the chat goes on", func() bool { return len(w.texts(1001)) == 1 })
	require.Equal(t, []string{"re: after"}, w.texts(1001))
	require.Len(t, w.runs(), 4, "three for the poison, one for the other")
}

func TestPoisonAFailingHandlerIsTriedThreeTimesAndTheChatGoesOn(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"panic", "fail", "hang"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.SendText(1001, word)
			w.SendText(1001, "after")
			w.SendText(1002, "elsewhere")
			w.start("--handler-timeout", "2s")
			w.eventually("the other chat is answered", func() bool { return len(w.Ledger(1002)) == 1 })
			res, err := w.update(id)
			require.Error(t, err)
			require.Equal(t, contract.ReasonHandlerFailed, res.Reason)
			w.eventually("the chat goes on", func() bool { return len(w.Ledger(1001)) == 1 })
			require.Len(t, w.runs(), 5)
		})
	}
}

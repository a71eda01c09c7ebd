package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// A button press is answered at once. Only this test catches an answer that
// waits for its handler, for its turn, or for the chat's budget.

func TestAButtonPressIsAnsweredBeforeItsTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SendText(1001, "hello")
	w.start("--chat-per-second", "0.1", "--chat-burst", "1").ready()
	w.eventually("there is a message to press on", func() bool { return len(w.Ledger(1001)) == 1 })
	w.SendText(1001, "slow 4s") // holds the turn, and then the chat's window does
	id := w.PressButton(1001, w.Ledger(1001)[0].ID, "yes")
	w.eventually("it is answered", func() bool { return len(w.calls("answerCallbackQuery")) == 1 })
	require.Len(t, w.Ledger(1001), 1, "the handler before it has not even ended")
	res, err := w.update(id)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Answer.Outcome)
	require.Len(t, w.calls("answerCallbackQuery"), 1)
	require.Len(t, w.Ledger(1001), 3, "and handled in its turn")
}

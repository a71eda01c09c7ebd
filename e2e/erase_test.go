package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// What is erased is gone. Only this test catches a history that is hidden from
// lists and still there, and a chat that hangs behind what was taken from it.

func TestEraseTakesEverythingOfAChatAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	for _, chat := range []int64{1001, 1002} {
		w.CreateChat(telegramsim.Chat{ID: chat})
		w.Fault(refuses(chat, 2))
		for _, said := range []string{"hello", "bad luck"} {
			w.SendText(chat, said)
		}
		w.send(chat, "--text", "a message", "--key", fmt.Sprint(chat), "--in", "24h")
	}
	w.dead(2)
	w.must("pause", "--reason", "a test")
	w.SendText(1001, "waits")
	w.SendText(1001, "waits behind it")
	w.eventually("it waits", func() bool { return w.of(1001) == 6 })
	out := w.must("chat", "erase", "1001", "--yes", "-o", "json")
	got := parse[map[string]int](t, out)
	require.Equal(t, 6, got["erased"], out)
	require.Zero(t, got["left"], out)
	w.must("resume")
	require.Zero(t, w.of(1001))
	require.Equal(t, int64(4), w.of(1002), "two updates, a letter, a message")
	_, err := w.temporal.DescribeWorkflow(t.Context(), contract.MessageID(w.bot, "1001"), "")
	require.Error(t, err)
	w.SendText(1001, "again")
	w.eventually("the chat is served", func() bool { return w.last(1001) == "re: again" })
}

// of counts the workflows of a chat.
func (w *world) of(chat int64) int64 {
	n, err := w.count("%s = '%d'", contract.AttributeChat, chat)
	require.NoError(w.t, err)
	return n
}

package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// What would come too late is not sent. Only these tests catch a "typing" that
// waits, and a stream of edits that spends a chat's budget on texts nobody reads.

func TestShedTypingIsDroppedRatherThanDelayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("--chat-per-second", "0.1").onDuty() // 3 in 30 s
	res, err := w.update(w.SendText(1001, "typing"))
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Calls[0].Outcome, "the chat is free")
	require.Equal(t, contract.Delivered, res.Calls[1].Outcome)
	w.SendText(1001, "hello")
	w.eventually("its window is full", func() bool { return len(w.Ledger(1001)) == 2 })
	require.Equal(t, contract.Dropped, w.outcomes(w.row(typing(1001))...)[0].Outcome)
	res, err = w.update(w.SendText(1001, "typing"))
	require.NoError(t, err)
	require.Equal(t, contract.Dropped, res.Calls[0].Outcome)
	require.Equal(t, contract.Delivered, res.Calls[1].Outcome, "the reply is not")
	require.Len(t, w.calls("sendChatAction"), 1)
}

func TestShedOfManyEditsOfOneMessageOnlyTheNewestIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("--group-per-minute", "6").onDuty() // one in 10 s after the first 5
	w.CreateChat(telegramsim.Chat{ID: group})
	w.SendText(group, "many 5")
	w.eventually("the group has had what it takes at once", func() bool { return len(w.Ledger(group)) == 5 })
	message := w.Ledger(group)[0].ID
	ids := w.row(edit(group, message, "one"), edit(group, message, "two"), edit(group, message, "three"),
		edit(group, message, "four"), edit(group, message, "five"))
	ends := w.outcomes(ids...)
	for _, res := range ends[:4] {
		require.Equal(t, contract.Superseded, res.Outcome)
	}
	require.Equal(t, contract.Delivered, ends[4].Outcome)
	require.Equal(t, "five", w.Ledger(group)[0].Text)
	require.Len(t, w.calls("editMessageText"), 1)
	w.eventually("they are found by it", func() bool { return w.found(contract.MessageWorkflow, string(contract.Superseded)) == 4 })
}

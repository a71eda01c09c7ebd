package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// What is known of a chat must save requests and never a message. Only these
// tests catch a mark that a new process does not know, or that outlives its cause.

func TestChatABlockedOneCostsOneRequestAcrossAKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holder, other := w.pair()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Block(1001)
	w.confirmed()
	ids := w.bulk(10, func(i int) contract.Call { return text(1001, fmt.Sprintf("no %d", i)) })
	for _, res := range w.outcomes(ids...) {
		require.Equal(t, contract.Unreachable, res.Outcome)
	}
	require.Len(t, w.to(1001), 1)
	began := time.Now()
	holder.kill()
	other.polls(began)
	w.shows("the stand-by knows of it", func(s stats) bool { return s.of(other) && s.UnreachableChats == 1 })
	require.Equal(t, contract.Unreachable, w.send(1001, "--text=still there?", "--wait").Outcome)
	require.Len(t, w.to(1001), 1)
	w.SendText(1001, "back")
	w.eventually("the chat is answered", func() bool { return w.last(1001) == "re: back" })
	require.Equal(t, contract.Delivered, w.send(1001, "--text=good", "--wait").Outcome)
	require.Len(t, w.to(1001), 3)
}

func TestChatAnUnblockedOneIsWrittenTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	w.Block(1001)
	require.Equal(t, contract.Unreachable, w.send(1001, "--text=one", "--wait").Outcome)
	w.Unblock(1001) // tells the bot by my_chat_member only
	w.confirmed()
	require.Equal(t, contract.Delivered, w.send(1001, "--text=two", "--wait").Outcome)
	require.Equal(t, []string{"two"}, w.texts(1001))
}

func TestChatAMarkIsSeenAndTakenBackByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 1001})
	require.Contains(t, w.must("chat", "show", "1001"), "nothing exceptional")
	w.Deactivate(1001) // of which Telegram tells bots nothing
	w.send(1001, "--text=one", "--wait")
	require.Eventually(t, func() bool { return strings.Contains(w.must("chat", "list", "-o", "json"), `"1001"`) },
		patience, 300*time.Millisecond, "it is listed")
	require.Contains(t, w.must("chat", "show", "1001"), "deactivated")
	w.must("chat", "clear", "1001", "--reason=a test")
	w.eventually("nothing is left of it", func() bool { return strings.Contains(w.must("chat", "show", "1001"), "nothing exceptional") })
	require.Len(t, w.to(1001), 1)
	// What was confirmed a moment ago is not asked for again at once.
	w.pass(time.Now().Add(6 * time.Second))
	require.Equal(t, contract.Unreachable, w.send(1001, "--text=two", "--wait").Outcome)
	require.Len(t, w.to(1001), 2, "it was tried again")
}

func TestChatAMovedOneCostsOneRequestAndKeepsItsOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// Without the service messages an answer is all it learns by.
	flags := []string{"--allowed-updates", "callback_query"}
	b := w.start(flags...).onDuty()
	w.CreateChat(telegramsim.Chat{ID: group})
	w.Fault(telegramsim.Fault{Method: "sendMessage", Times: 1, Kind: telegramsim.FaultDelay, Wait: 6 * time.Second})
	var want []string
	var ids []string
	for i := range 5 {
		want = append(want, fmt.Sprintf("no %d", i))
		ids = append(ids, w.row(text(group, want[i]))...)
	}
	moved := w.Migrate(group)
	for _, res := range w.outcomes(ids...) {
		require.Equal(t, contract.Delivered, res.Outcome)
		require.Equal(t, fmt.Sprint(moved), res.MovedTo)
	}
	require.Equal(t, want, w.texts(moved))
	require.Len(t, w.to(group), 1)
	endings["stopped"].leave(b)
	w.start(flags...).onDuty()
	require.Equal(t, contract.Delivered, w.send(group, "--text=after", "--wait").Outcome)
	require.Equal(t, append(want, "after"), w.texts(moved))
	require.Len(t, w.to(group), 1, "the move outlived its process")
}

func TestChatAMoveThatWasAnnouncedCostsNoRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.SendText(group, "hello")
	w.eventually("it is answered", func() bool { return len(w.Ledger(group)) == 1 })
	moved := w.Migrate(group)
	w.confirmed()
	require.Equal(t, contract.Delivered, w.send(group, "--text=after", "--wait").Outcome)
	require.Equal(t, []string{"after"}, w.texts(moved))
	require.Len(t, w.to(group), 1, "the reply before the move")
}

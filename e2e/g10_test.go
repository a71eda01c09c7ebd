package e2e_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G10: dead letters stay until a person acts, and replaying one never repeats
// what had been delivered. Only these tests catch a replay that begins again at
// the beginning, or that two people start at once.

// refuses makes Telegram refuse a text's request for good.
func refuses(chat int64, nth int) telegramsim.Fault {
	return telegramsim.Fault{
		Method: "sendMessage", ChatID: chat, Nth: nth, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest,
		Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
	}
}

func TestG10AReplayGoesOnWhereTheUpdateDied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.Fault(refuses(1001, 3))
	id := w.SendText(1001, "many 5")
	_, err := w.update(id)
	require.ErrorContains(t, err, "rejected")
	require.Equal(t, replies(5)[:2], w.texts(1001))
	dead := w.dead(1)[0]
	require.Equal(t, letter{
		ID: fmt.Sprintf("update/%d", id), Reason: contract.ReasonRejected, Kind: "update", ChatID: "1001", Method: "sendMessage",
		Error: dead.Error, Attempts: 1,
	}, dead)
	require.Contains(t, dead.Error, "BUTTON_DATA_INVALID")
	require.ErrorContains(t, err, dead.ID, "the failure names its letter")
	w.must("dead", "replay", dead.ID, "--reason", "mended", "--wait", "--yes")
	require.Equal(t, replies(5), w.texts(1001), "each once, in order")
	w.dead(0)
	out, code := w.durabot("dead", "replay", dead.ID, "--yes")
	require.Equal(t, 1, code, out)
	require.Len(t, w.Ledger(1001), 5)
	require.Len(t, w.runs(), 1, "what the handler decided is not decided again")
}

func TestG10AHandlerThatGaveUpHandlesItsUpdateAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.SendText(1001, "exit")
	for len(w.runs()) < 3 {
		w.start().wait() // the update takes its process with it
	}
	b := w.start().onDuty()
	require.Equal(t, contract.ReasonHandlerFailed, w.dead(1)[0].Reason)
	b.kill()
	w.env = []string{"MENDED=1"}
	w.start().onDuty()
	w.must("dead", "replay", fmt.Sprintf("update/%d", id), "--wait", "--yes")
	require.Equal(t, []string{"re: exit"}, w.texts(1001))
	w.dead(0)
}

func TestG10OfTwoPeopleWhoReplayOneIsToldThatTheOtherDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.Fault(refuses(2000, 1))
	r := w.send(2000, "--text", "once", "--wait")
	var codes [2]int
	var both sync.WaitGroup
	for i := range codes {
		both.Go(func() { _, codes[i] = w.durabot("dead", "replay", r.DeadLetter, "--yes", "--wait") })
	}
	both.Wait()
	require.ElementsMatch(t, []int{0, 1}, codes[:])
	require.Equal(t, []string{"once"}, w.texts(2000))
}

func TestG10WhatMayHaveArrivedIsReplayedOnlyWhenADuplicateIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.Fault(telegramsim.Fault{Method: "sendMessage", Kind: telegramsim.FaultReset, Times: 1})
	r := w.send(2000, "--text", "perhaps", "--delivery", "at-most-once", "--wait")
	require.Equal(t, contract.ReasonUncertain, r.Reason)
	_, code := w.durabot("dead", "replay", r.DeadLetter, "--yes")
	require.Equal(t, 1, code)
	require.Len(t, w.Ledger(2000), 1)
	w.must("dead", "replay", r.DeadLetter, "--allow-duplicate", "--yes", "--wait")
	require.Len(t, w.Ledger(2000), 2)
	w.dead(0)
}

func TestG10AnEditMendsWhatTelegramRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	id := w.SendText(1001, "bad")
	_, err := w.update(id)
	require.Error(t, err)
	dead := w.dead(1)[0].ID
	w.must("dead", "replay", dead, "--yes", "--wait", "--edit", `{"text":"mended"}`)
	require.Equal(t, []string{"mended", "re: after bad"}, w.texts(1001))
}

func TestG10AReplayThatFailsAgainLeavesTheLetterOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	w.CreateChat(telegramsim.Chat{ID: 2000})
	w.Fault(refuses(2000, 1))
	r := w.send(2000, "--text", "stubborn", "--wait")
	w.Fault(refuses(2000, 1))
	_, code := w.durabot("dead", "replay", r.DeadLetter, "--yes", "--wait")
	require.Equal(t, 1, code)
	require.Equal(t, r.DeadLetter, w.dead(1)[0].ID)
	w.must("dead", "replay", r.DeadLetter, "--yes", "--wait")
	require.Equal(t, []string{"stubborn"}, w.texts(2000))
	w.dead(0)
}

func TestG10AKillDuringAReplayRepeatsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.start().onDuty()
	w.Fault(refuses(1001, 1))
	id := w.SendText(1001, "many 5")
	_, err := w.update(id)
	require.Error(t, err)
	w.Fault(telegramsim.Fault{Method: "sendMessage", Nth: 3, Times: 1, Kind: telegramsim.FaultHang})
	w.must("dead", "replay", fmt.Sprintf("update/%d", id), "--yes")
	w.eventually("its third call hangs", func() bool { return len(w.calls("sendMessage")) == 4 && len(w.Ledger(1001)) == 2 })
	b.kill()
	w.ClearFaults()
	w.start()
	w.eventually("the rest is sent", func() bool { return len(w.Ledger(1001)) == 5 })
	require.Equal(t, replies(5), w.texts(1001))
	w.dead(0)
}

func TestG10AReplayOfManyKeepsEachChatsOrderAndSkipsWhatIsOfNoUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start().onDuty()
	for _, chat := range []int64{2000, 2001, 2002} {
		w.CreateChat(telegramsim.Chat{ID: chat})
		w.Fault(telegramsim.Fault{
			Method: "sendMessage", ChatID: chat, Times: 4, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest,
			Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
		})
	}
	for i := range 4 {
		for _, chat := range []int64{2000, 2001, 2002} {
			args := []string{"--text", fmt.Sprint(i), "--wait"}
			if chat == 2002 && i == 0 {
				args = append(args, "--ttl", "5s")
			}
			w.send(chat, args...)
		}
	}
	w.dead(12)
	w.Block(2001)
	require.Equal(t, contract.Unreachable, w.send(2001, "--text", "finds it blocked", "--wait").Outcome)
	w.eventually("the chat is marked", func() bool { return w.stats().UnreachableChats == 1 })
	w.pass(time.Now().Add(5 * time.Second))
	type summary struct {
		Replaying int            `json:"replaying"`
		Skipped   map[string]int `json:"skipped"`
	}
	out := w.must("dead", "replay", "--died-of", "rejected", "--yes", "-o", "json")
	got := parse[summary](t, out)
	require.Equal(t, 7, got.Replaying, out)
	skipped := 0
	for _, n := range got.Skipped {
		skipped += n
	}
	require.Equal(t, 5, skipped, out)
	w.eventually("all is sent", func() bool { return len(w.Ledger(0)) == 7 })
	require.Equal(t, []string{"0", "1", "2", "3"}, w.texts(2000))
	require.Equal(t, []string{"1", "2", "3"}, w.texts(2002))
	w.dead(5)
	w.must("dead", "discard", "--chat", "2001", "--reason", "gone", "--yes")
	w.dead(1)
}

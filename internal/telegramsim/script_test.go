package telegramsim_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The tests here are scenes a judge of bots plays: each needs several parts of
// the simulator to agree.

func TestLostAnswerThenRetryShowsAsTwoMessages(t *testing.T) {
	t.Parallel()
	for _, kind := range []telegramsim.Kind{telegramsim.FaultReset, telegramsim.FaultStatusAfter, telegramsim.FaultHalfBody, telegramsim.FaultGarbage} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.SendText(1001, "/start")
			b.Fault(telegramsim.Fault{Method: "sendMessage", Kind: kind, Times: 1})
			_, raw, _ := b.post("sendMessage", params{"chat_id": 1001, "text": "once?"})
			require.False(t, json.Valid(raw) && len(raw) > 0)
			b.say(1001, "once?")
			require.Equal(t, []string{"once?", "once?"}, texts(b.Ledger(1001)))
			require.NotEqual(t, b.Ledger(1001)[0].ID, b.Ledger(1001)[1].ID)
		})
	}
}

func TestRestartedPollerGetsTheSameBatchUntilItConfirms(t *testing.T) {
	t.Parallel()
	b := free(t)
	first := b.SendText(1001, "1")
	b.SendText(1001, "2")
	for range 100 {
		require.Equal(t, []int64{first, first + 1}, updateIDs(t, b.call("getUpdates", nil)))
	}
	require.Empty(t, updateIDs(t, b.call("getUpdates", params{"offset": first + 2})))
	require.Empty(t, updateIDs(t, b.call("getUpdates", nil)))
}

func TestPollingFailsWhileSendingWorks(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Fault(telegramsim.Fault{Method: "getUpdates", Kind: telegramsim.FaultStatus, Times: 2})
	for range 2 {
		resp, _, err := b.post("getUpdates", nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadGateway, resp.StatusCode)
		b.say(1001, "still here")
	}
	require.Len(t, updateIDs(t, b.call("getUpdates", nil)), 1, "an outage loses nothing")
}

func TestDelayedCallTakesEffectAfterItsDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		start := time.Now()
		sim.Fault(telegramsim.Fault{Kind: telegramsim.FaultDelay, Wait: 20 * time.Second, Times: 1})
		sim.Fault(telegramsim.Fault{Kind: telegramsim.FaultDelayAfter, Wait: 20 * time.Second, Times: 1})
		text(t, sim, 1001)
		text(t, sim, 1001)
		ledger := sim.Ledger(1001)
		require.Equal(t, 20*time.Second, ledger[0].Time.Sub(start))
		require.Equal(t, 20*time.Second, ledger[1].Time.Sub(start), "the second is accepted before its delay")
		require.Equal(t, 40*time.Second, time.Since(start))
		log := sim.Requests()
		require.Equal(t, 20*time.Second, log[0].Answered.Sub(log[0].Arrived))
		require.Equal(t, 20*time.Second, log[1].Answered.Sub(log[1].Arrived))
	})
}

func TestPenaltyOnOneChatLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		sim.Penalise(1001, 30*time.Second)
		require.Equal(t, 429, text(t, sim, 1001).Code)
		for n := range int64(200) {
			time.Sleep(40 * time.Millisecond)
			require.True(t, text(t, sim, 2000+n).OK)
		}
		require.Equal(t, int64(0), sim.Violations())
		time.Sleep(22 * time.Second)
		require.True(t, text(t, sim, 1001).OK)
	})
}

func TestObeyingEveryWaitNeverViolates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		sent, refused := 0, 0
		for sent < 60 {
			e := text(t, sim, -4002)
			if e.OK {
				sent++
				continue
			}
			refused++
			time.Sleep(time.Duration(e.Parameters.RetryAfter) * time.Second)
		}
		require.Equal(t, 2, refused, "one breach for each further twenty")
		require.Zero(t, sim.Violations())
	})
}

func TestZeroOptionsAreTheDocumentedDefaults(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{})
	require.Equal(t, telegramsim.DefaultToken, b.Token())
	require.Contains(t, string(b.call("getMe", nil).Result), `"username":"durabot_sim_bot"`)
	var state struct{ Limits fields }
	b.admin("GET", "/state", "", 200, &state)
	require.Equal(t, fields{
		"per_chat": 3.0, "per_chat_ms": 3000.0, "per_group": 20.0, "per_group_ms": 60000.0, "global": 30.0, "global_ms": 1000.0,
		"paid_per_second": 1000.0, "off": false, "album_as_one": false, "utf16": false, "penalty_factor": 2.0, "max_penalty_ms": 21600000.0,
	}, state.Limits)
}

func TestRenamingAChatKeepsItsState(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Block(1001)
	require.Equal(t, telegramsim.ChatBlocked, b.CreateChat(telegramsim.Chat{ID: 1001, Name: "Ann"}).State)
	require.Equal(t, "Ann", b.Chats()[0].Name)
}

func TestTokenIsInNoAnswerOfTheAdminAPI(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.say(1001, "hello")
	for _, path := range []string{"/state", "/requests", "/ledger", "/chats/1001/messages"} {
		var body json.RawMessage
		b.admin("GET", path, "", 200, &body)
		require.NotContains(t, string(body), b.Token())
		require.NotContains(t, string(body), "SIM-secret")
	}
}

func TestEditWithoutAKeyboardRemovesIt(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.call("sendMessage", params{"chat_id": 1001, "text": "x", "reply_markup": params{"inline_keyboard": []any{}}})
	require.NotEmpty(t, b.Ledger(1001)[0].Markup)
	e := b.call("editMessageText", params{"chat_id": 1001, "message_id": 2, "text": "y"})
	require.NotContains(t, string(e.Result), "reply_markup")
	require.Empty(t, b.Ledger(1001)[0].Markup)
}

func TestTypingEndsWithTheNextMessageOrAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.call("sendChatAction", params{"chat_id": 1001, "action": "typing"})
	var state struct{ Chats []fields }
	b.admin("GET", "/state", "", 200, &state)
	until, err := time.Parse(time.RFC3339Nano, state.Chats[0]["typing_until"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(5*time.Second), until, 2*time.Second)
	b.say(1001, "hello")
	state.Chats = nil
	b.admin("GET", "/state", "", 200, &state)
	require.NotContains(t, state.Chats[0], "typing_until")
}

func TestWebhookConflictsAreSpaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		require.True(t, direct(t, sim, "setWebhook", params{"url": "https://example.org"}).OK)
		start := time.Now()
		for _, want := range []time.Duration{0, 3, 3, 6, 6} {
			require.Equal(t, 409, direct(t, sim, "getUpdates", nil).Code)
			require.Equal(t, want*time.Second, time.Since(start), "a delayed one delays no other")
		}
	})
}

func TestSwitchedOffPollRulesLetAPollerHurry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		start := time.Now()
		for range 3 {
			require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", params{"offset": 5})))
		}
		sim.SendText(1001, "1")
		sim.SendText(1001, "2")
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 2)
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 2)
		require.Zero(t, time.Since(start))
	})
}

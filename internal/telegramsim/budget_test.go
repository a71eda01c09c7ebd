package telegramsim_test

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

// TestWhatEachMethodCosts spends a budget of ten with one call of each method
// and counts how many texts still fit.
func TestWhatEachMethodCosts(t *testing.T) {
	t.Parallel()
	album := `[{"type":"photo","media":"a"},{"type":"photo","media":"b"},{"type":"photo","media":"c"}]`
	for _, c := range []struct {
		method string
		params params
		cost   int
		single int // with AlbumAsOne
	}{
		{"sendMessage", params{"text": "x"}, 1, 1},
		{"sendPhoto", params{"photo": "x"}, 1, 1},
		{"sendDice", nil, 1, 1},
		{"sendSomethingNew", nil, 1, 1},
		{"sendChatAction", params{"action": "typing"}, 1, 1},
		{"sendMediaGroup", params{"media": album}, 3, 1},
		{"forwardMessage", params{"from_chat_id": -5, "message_id": 1}, 1, 1},
		{"copyMessage", params{"from_chat_id": -5, "message_id": 1}, 1, 1},
		{"forwardMessages", params{"from_chat_id": -5, "message_ids": "[1,2,2,1]"}, 4, 1},
		{"copyMessages", params{"from_chat_id": -5, "message_ids": "[1,2,77]"}, 2, 1},
		{"editMessageText", params{"message_id": 3, "text": "new"}, 1, 1},
		{"editMessageCaption", params{"message_id": 3, "caption": "new"}, 1, 1},
		{"editMessageReplyMarkup", params{"message_id": 3, "reply_markup": "{}"}, 1, 1},
		{"editMessageMedia", params{"message_id": 3, "media": "{}"}, 1, 1},
		{"deleteMessage", params{"message_id": 1}, 0, 0},
		{"deleteMessages", params{"message_ids": "[1]"}, 0, 0},
		{"pinChatMessage", params{"message_id": 1}, 0, 0},
		{"getChat", nil, 0, 0},
		{"banChatMember", params{"user_id": 5}, 0, 0},
	} {
		for asOne, cost := range map[bool]int{false: c.cost, true: c.single} {
			t.Run(fmt.Sprint(c.method, asOne), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					sim := newSim(t, telegramsim.Options{Limits: telegramsim.Limits{PerGroup: 10, AlbumAsOne: asOne}})
					sim.SendText(-5, "1")
					sim.SendText(-5, "2")
					require.True(t, text(t, sim, -5).OK)
					time.Sleep(time.Minute)
					p := params{"chat_id": -5}
					maps.Copy(p, c.params)
					require.Empty(t, direct(t, sim, c.method, p).Description)
					fit := 0
					for text(t, sim, -5).OK {
						fit++
					}
					require.Equal(t, 10-cost, fit)
				})
			})
		}
	}
}

// TestWhatIsRefusedCostsNothing repeats calls that fail far beyond the limit.
func TestWhatIsRefusedCostsNothing(t *testing.T) {
	t.Parallel()
	for method, p := range map[string]params{
		"sendMessage":     {"text": ""},
		"sendPhoto":       {"caption": string(make([]byte, 1025))},
		"sendMediaGroup":  {"media": "[{}]"},
		"sendChatAction":  {},
		"copyMessage":     {"from_chat_id": -5, "message_id": 99},
		"forwardMessages": {"from_chat_id": -5, "message_ids": "[98,99]"},
		"editMessageText": {"message_id": 99, "text": "x"},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{Limits: telegramsim.Limits{PerGroup: 1}})
				sim.SendText(-5, "hello")
				p["chat_id"] = -5
				for range 10 {
					require.Equal(t, 400, direct(t, sim, method, p).Code)
				}
				require.True(t, text(t, sim, -5).OK)
			})
		})
	}
}

// TestAnEditThatChangesNothingIsPaidFor: only the back end knows the content, and
// it is behind the limits.
func TestAnEditThatChangesNothingIsPaidFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		text(t, sim, 1001)
		same := params{"chat_id": 1001, "message_id": 1, "text": "x"}
		require.Equal(t, 400, direct(t, sim, "editMessageText", same).Code)
		require.Equal(t, 400, direct(t, sim, "editMessageText", same).Code)
		require.Equal(t, 429, direct(t, sim, "editMessageText", same).Code)
	})
}

// TestACallRefusedByOneWindowIsNotChargedToTheOther: else a flooded chat would
// eat up the whole bot's budget with messages that were never sent.
func TestACallRefusedByOneWindowIsNotChargedToTheOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerChat: 1, Global: 3, GlobalWindow: time.Hour}}))
		require.True(t, text(t, sim, 1).OK)
		for range 20 {
			require.Equal(t, 429, text(t, sim, 1).Code)
		}
		require.True(t, text(t, sim, 2).OK)
		require.True(t, text(t, sim, 3).OK)
		require.Equal(t, 429, text(t, sim, 4).Code, "three in all")
	})
}

func TestARefusalTellsTheShortestWaitThatIsEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		span := time.Duration(rapid.IntRange(1, 90).Draw(rt, "seconds")) * time.Second
		gaps := rapid.SliceOfN(rapid.IntRange(0, 3000), limit, 40).Draw(rt, "gaps in ms")
		var early, late envelope
		var oldest time.Duration
		var wait int
		synctest.Test(t, func(t *testing.T) {
			limits := telegramsim.Limits{PerGroup: limit, PerGroupWindow: span, Global: -1, PenaltyFactor: 1}
			sim := newSim(t, open(telegramsim.Options{Limits: limits}))
			var sent []time.Time
			for _, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Millisecond)
				if e := text(t, sim, -5); !e.OK {
					wait = e.Parameters.RetryAfter
					oldest = time.Until(sent[len(sent)-limit].Add(span))
					break
				}
				sent = append(sent, time.Now())
			}
			if wait == 0 {
				return
			}
			time.Sleep(time.Duration(wait)*time.Second - 1)
			early = text(t, sim, -5)
			time.Sleep(time.Nanosecond)
			late = text(t, sim, -5)
		})
		if wait == 0 {
			return
		}
		require.Equal(rt, int((oldest+time.Second-1)/time.Second), wait, "in whole seconds, rounded up")
		require.Equal(rt, 429, early.Code)
		require.True(rt, late.OK)
	})
}

// TestPenaltiesHoldForTheirScopeOnly lists who is stopped by what.
func TestPenaltiesHoldForTheirScopeOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		scope  int64
		method string
		params params
		code   int
	}{
		{"the chat itself", 1001, "sendMessage", params{"chat_id": 1001, "text": "x"}, 429},
		{"the chat by its name", 1001, "sendMessage", params{"chat_id": "@ann", "text": "x"}, 429},
		{"another chat", 1001, "sendMessage", params{"chat_id": 1002, "text": "x"}, 0},
		{"another chat, whole bot", 0, "sendMessage", params{"chat_id": 1002, "text": "x"}, 429},
		{"an unknown chat, whole bot", 0, "sendMessage", params{"chat_id": 77, "text": "x"}, 429},
		{"a call without a chat, whole bot", 0, "sendMessage", nil, 429},
		{"a call without a chat", 1001, "sendMessage", nil, 400},
		{"an edit", 1001, "editMessageText", params{"chat_id": 1001, "message_id": 1, "text": "y"}, 429},
		{"a deletion", 1001, "deleteMessage", params{"chat_id": 1001, "message_id": 1}, 0},
		{"a read, whole bot", 0, "getMe", nil, 0},
		{"a poll, whole bot", 0, "getUpdates", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.CreateChat(telegramsim.Chat{ID: 1001, Username: "ann"})
			b.CreateChat(telegramsim.Chat{ID: 1002})
			b.say(1001, "x")
			b.Penalise(c.scope, time.Minute)
			require.Equal(t, c.code, b.call(c.method, c.params).Code)
		})
	}
}

func TestAPenaltyByHandReplacesAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		wait := func() int { return text(t, sim, 1001).Parameters.RetryAfter }
		sim.Penalise(1001, time.Hour)
		sim.Penalise(1001, 10*time.Second)
		require.Equal(t, 10, wait(), "a longer one is replaced")
		sim.Penalise(0, 20*time.Second)
		require.Equal(t, 20, wait(), "the whole bot's comes first")
		sim.Penalise(0, -time.Second)
		require.Equal(t, 10, wait())
		time.Sleep(9_999 * time.Millisecond)
		require.Equal(t, 20, wait(), "asking a millisecond early doubles it")
		sim.Penalise(1001, 0)
		require.Zero(t, wait())
	})
}

// TestGrowthStopsAtTheCapAndNeverShortensAPenalty: a cap below what is running
// must not set anybody free.
func TestGrowthStopsAtTheCapAndNeverShortensAPenalty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		limits      telegramsim.Limits
		first, want time.Duration
	}{
		{"doubled", telegramsim.Limits{}, time.Minute, 2 * time.Minute},
		{"tripled", telegramsim.Limits{PenaltyFactor: 3}, time.Minute, 3 * time.Minute},
		{"to the cap", telegramsim.Limits{MaxPenalty: 90 * time.Second}, time.Minute, 90 * time.Second},
		{"six hours by default", telegramsim.Limits{}, 5 * time.Hour, 6 * time.Hour},
		{"at the cap it starts again", telegramsim.Limits{MaxPenalty: time.Minute}, time.Minute, time.Minute},
		{"above the cap", telegramsim.Limits{MaxPenalty: time.Second}, time.Minute, time.Minute},
		{"switched off", telegramsim.Limits{PenaltyFactor: 1}, time.Minute, 50 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, open(telegramsim.Options{Limits: c.limits}))
				sim.Penalise(1001, c.first)
				text(t, sim, 1001)
				time.Sleep(10 * time.Second)
				require.Equal(t, int(c.want/time.Second), text(t, sim, 1001).Parameters.RetryAfter)
				require.Equal(t, int64(1), sim.Violations())
				time.Sleep(c.want)
				require.True(t, text(t, sim, 1001).OK)
			})
		})
	}
}

func TestCallsInTheAirAreNoViolation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		sim.Penalise(1001, time.Minute)
		time.Sleep(30 * time.Second)
		require.Equal(t, 30, text(t, sim, 1001).Parameters.RetryAfter, "nobody had been told")
		time.Sleep(50 * time.Millisecond)
		require.Equal(t, 30, text(t, sim, 1001).Parameters.RetryAfter, "50 ms for what was under way")
		require.Zero(t, sim.Violations())
		time.Sleep(time.Millisecond)
		require.Equal(t, 120, text(t, sim, 1001).Parameters.RetryAfter)
		require.Equal(t, int64(1), sim.Violations())
	})
}

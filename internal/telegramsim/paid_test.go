package telegramsim_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

// paid sends a text to a chat for Stars.
func paid(t *testing.T, sim *telegramsim.Sim, chatID int64) envelope {
	t.Helper()
	return direct(t, sim, "sendMessage", params{"chat_id": chatID, "text": "x", "allow_paid_broadcast": true})
}

func TestPaidCallsHaveABudgetOfTheirOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for n := range int64(1000) {
			require.True(t, paid(t, sim, n+1).OK)
		}
		for n := range int64(30) {
			require.True(t, text(t, sim, n+2001).OK, "the free ones are not spent")
		}
		require.InDelta(t, 97, sim.StarsSpent(), 0)
		require.Equal(t, 1, paid(t, sim, 3001).Parameters.RetryAfter)
		require.Equal(t, 429, text(t, sim, 3002).Code, "the whole bot is told to wait")
		time.Sleep(time.Second)
		require.True(t, text(t, sim, 3002).OK)
		require.True(t, paid(t, sim, 3001).OK)
	})
}

func TestThirtyPaidCallsOfASecondCostNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for second := range int64(3) {
			for n := range int64(30) {
				require.True(t, paid(t, sim, 100*second+n+1).OK)
			}
			time.Sleep(time.Second)
		}
		require.Zero(t, sim.StarsSpent())
	})
}

func TestWhatIsPaidForStillKeepsToItsChat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for range 3 {
			require.True(t, paid(t, sim, 1).OK)
		}
		require.Equal(t, 3, paid(t, sim, 1).Parameters.RetryAfter)
	})
}

func TestOnlySomeMethodsCanBePaidFor(t *testing.T) {
	t.Parallel()
	album := `[{"type":"photo","media":"a"},{"type":"photo","media":"b"}]`
	for method, c := range map[string]struct {
		params params
		paid   bool
	}{
		"sendMessage":     {params{"text": "x"}, true},
		"sendmessage":     {params{"text": "x"}, true},
		"sendPhoto":       {params{"photo": "x"}, true},
		"sendDice":        {nil, true},
		"sendMediaGroup":  {params{"media": album}, true},
		"copyMessage":     {params{"from_chat_id": -5, "message_id": 1}, true},
		"copyMessages":    {params{"from_chat_id": -5, "message_ids": "[1]"}, false},
		"forwardMessage":  {params{"from_chat_id": -5, "message_id": 1}, false},
		"sendChatAction":  {params{"action": "typing"}, false},
		"sendChecklist":   {nil, false},
		"editMessageText": {params{"message_id": 2, "text": "new"}, false},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{Limits: telegramsim.Limits{Global: 1, GlobalWindow: time.Hour}})
				sim.SendText(-5, "1")
				require.True(t, text(t, sim, -5).OK)
				if c.params == nil {
					c.params = params{}
				}
				c.params["chat_id"], c.params["allow_paid_broadcast"] = -5, true
				require.Equal(t, c.paid, direct(t, sim, method, c.params).OK)
			})
		})
	}
}

func TestWithoutStarsNothingIsPaidFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		off := newSim(t, open(telegramsim.Options{Stars: -1}))
		require.Equal(t, "Bad Request: paid broadcasts are not switched on for this bot (simulator)", paid(t, off, 1).Description)
		require.True(t, text(t, off, 1).OK)

		poor := newSim(t, open(telegramsim.Options{Stars: 1}))
		for n := range int64(40) {
			require.True(t, paid(t, poor, n+1).OK)
		}
		refused := paid(t, poor, 99)
		require.Equal(t, 400, refused.Code)
		require.Equal(t, "Bad Request: not enough Stars for a paid broadcast (simulator)", refused.Description)
		require.Len(t, poor.Ledger(0), 40)
		require.InDelta(t, 1, poor.StarsSpent(), 0)
		time.Sleep(time.Second)
		require.True(t, paid(t, poor, 99).OK, "that is one of the free ones")
	})
}

func TestLimitsThatAreOffCostNoStars(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		off := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{Off: true}}))
		unlimited := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PaidPerSecond: -1}}))
		for n := range int64(230) {
			require.True(t, paid(t, off, n+1).OK)
			require.True(t, paid(t, unlimited, n+1).OK)
		}
		require.Zero(t, off.StarsSpent())
		require.InDelta(t, 20, unlimited.StarsSpent(), 0)
	})
}

func TestStarsSpentAreShownAndKept(t *testing.T) {
	t.Parallel()
	opts := open(telegramsim.Options{StateFile: filepath.Join(t.TempDir(), "sim.json"), Limits: telegramsim.Limits{PaidPerSecond: 40, PerGroup: -1}})
	sim := newSim(t, opts)
	for range 4 {
		album := `[{"type":"photo","media":"a"}` + strings.Repeat(`,{"type":"photo","media":"a"}`, 9) + `]`
		require.True(t, direct(t, sim, "sendMediaGroup", params{"chat_id": -5, "media": album, "allow_paid_broadcast": true}).OK)
	}
	require.InDelta(t, 1, sim.StarsSpent(), 0, "each of the last ten photos")
	require.NoError(t, sim.Close())
	b := setup(t, opts)
	var state struct{ Requests struct{ Stars float64 } }
	b.admin("GET", "/state", "", 200, &state)
	require.InDelta(t, 1, state.Requests.Stars, 0)
}

func TestStarsSpentAreThoseAboveThirtyInEachSecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		gaps := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 150).Draw(rt, "gaps in ms")
		var spent float64
		above := 0
		synctest.Test(t, func(t *testing.T) {
			sim := newSim(t, open(telegramsim.Options{}))
			var sent []time.Time
			for n, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Millisecond)
				require.True(t, paid(t, sim, int64(n+1)).OK)
				sent = append(sent, time.Now())
				if n >= 30 && time.Since(sent[n-30]) < time.Second {
					above++
				}
			}
			spent = sim.StarsSpent()
		})
		require.InDelta(rt, float64(above)/10, spent, 1e-9)
	})
}

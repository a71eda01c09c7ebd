package telegramsim_test

import (
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

func open(opts telegramsim.Options) telegramsim.Options {
	opts.Unknown = telegramsim.UnknownCreate
	return opts
}

func TestPrivateChatTakesThreeInThreeSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for range 3 {
			require.True(t, text(t, sim, 1001).OK)
		}
		refused := text(t, sim, 1001)
		require.Equal(t, 429, refused.Code)
		require.Equal(t, "Too Many Requests: retry after 3", refused.Description)
		require.Equal(t, 3, refused.Parameters.RetryAfter)
		require.Equal(t, "3", refused.Header.Get("Retry-After"))
		require.True(t, text(t, sim, 1002).OK, "other chats go on")
		time.Sleep(3 * time.Second)
		require.True(t, text(t, sim, 1001).OK, "retry_after is exact")
		require.Zero(t, sim.Violations())
	})
}

func TestEveryCountedMethodSpendsTheSameBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerChat: 4}}))
		require.True(t, text(t, sim, 1001).OK)
		require.True(t, direct(t, sim, "editMessageText", params{"chat_id": 1001, "message_id": 1, "text": "new"}).OK)
		require.True(t, direct(t, sim, "sendChatAction", params{"chat_id": 1001, "action": "typing"}).OK)
		require.True(t, direct(t, sim, "sendDice", params{"chat_id": 1001}).OK)
		require.Equal(t, 429, direct(t, sim, "copyMessage", params{"chat_id": 1001, "from_chat_id": 1001, "message_id": 1}).Code)
		require.True(t, direct(t, sim, "deleteMessage", params{"chat_id": 1001, "message_id": 1}).OK, "deletes are free")
		require.True(t, direct(t, sim, "getChat", params{"chat_id": 1001}).OK, "reads are free")
	})
}

func TestRefusedContentSpendsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for range 10 {
			require.Equal(t, 400, direct(t, sim, "sendMessage", params{"chat_id": 1001}).Code)
		}
		require.True(t, text(t, sim, 1001).OK)
	})
}

func TestGroupTakesTwentyAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for range 20 {
			require.True(t, text(t, sim, -5).OK)
			time.Sleep(time.Second)
		}
		require.Equal(t, 40, text(t, sim, -5).Parameters.RetryAfter)
	})
}

func TestAlbumCountsItsItems(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		album := params{"chat_id": -5, "media": `[{"type":"photo","media":"x"},{"type":"photo","media":"y"}]`}
		sim := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerGroup: 3}}))
		require.True(t, direct(t, sim, "sendMediaGroup", album).OK)
		require.Equal(t, 429, direct(t, sim, "sendMediaGroup", album).Code)

		small := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerGroup: 1}}))
		require.True(t, direct(t, small, "sendMediaGroup", album).OK, "larger than the limit passes an empty window")
		require.Equal(t, 429, text(t, small, -5).Code)

		single := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerGroup: 3, AlbumAsOne: true}}))
		for range 3 {
			require.True(t, direct(t, single, "sendMediaGroup", album).OK)
		}
	})
}

func TestGlobalBreachStopsTheWholeBot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for n := range int64(30) {
			require.True(t, text(t, sim, 1001+n).OK)
		}
		require.Equal(t, 429, text(t, sim, 5000).Code)
		require.Equal(t, 429, text(t, sim, 5001).Code, "also for a chat that sent nothing")
		require.True(t, direct(t, sim, "getMe", nil).OK)
		time.Sleep(time.Second)
		require.True(t, text(t, sim, 5000).OK)
	})
}

func TestPenaltyGrowsWhenItIsIgnored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		sim.Penalise(1001, 10*time.Second)
		require.Equal(t, 10, text(t, sim, 1001).Parameters.RetryAfter)
		require.Equal(t, 10, text(t, sim, 1001).Parameters.RetryAfter, "in the air when the first 429 was written")
		require.Zero(t, sim.Violations())
		for _, want := range []int{20, 40, 80} {
			time.Sleep(time.Second)
			require.Equal(t, want, text(t, sim, 1001).Parameters.RetryAfter)
		}
		require.Equal(t, int64(3), sim.Violations())
		require.True(t, sim.Requests()[4].Violation)
		require.True(t, text(t, sim, 1002).OK)
		time.Sleep(80 * time.Second)
		require.True(t, text(t, sim, 1001).OK)
	})
}

func TestPenaltyGrowthIsASetting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flat := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PenaltyFactor: 1}}))
		flat.Penalise(0, 10*time.Second)
		text(t, flat, 1001)
		time.Sleep(4 * time.Second)
		require.Equal(t, 6, text(t, flat, 1001).Parameters.RetryAfter)
		require.Equal(t, int64(1), flat.Violations())

		capped := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{PenaltyFactor: 1000, MaxPenalty: time.Hour}}))
		capped.Penalise(1001, 10*time.Second)
		text(t, capped, 1001)
		time.Sleep(time.Second)
		require.Equal(t, 3600, text(t, capped, 1001).Parameters.RetryAfter)
		capped.Penalise(1001, 0)
		require.True(t, text(t, capped, 1001).OK, "ended by hand")
	})
}

func TestLimitsCanBeChangedAndSwitchedOff(t *testing.T) {
	t.Parallel()
	b := setup(t, open(telegramsim.Options{Limits: telegramsim.Limits{PerChat: 1}}))
	b.say(1001, "x")
	require.Equal(t, 429, b.call("sendMessage", params{"chat_id": 1001, "text": "x"}).Code)
	b.SetLimits(telegramsim.Limits{PerChat: -1, Global: -1})
	for n := range 50 {
		b.say(1002, strconv.Itoa(n))
	}
	b.SetLimits(telegramsim.Limits{Off: true})
	require.Equal(t, 429, b.call("sendMessage", params{"chat_id": 1001, "text": "x"}).Code, "penalties outlive the limits")
}

// TestNoWindowEverHoldsMoreThanItsLimit sends at random times and counts what
// was accepted in every window that starts at an accepted message.
func TestNoWindowEverHoldsMoreThanItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limits := telegramsim.Limits{
			PerChat:  rapid.IntRange(1, 4).Draw(rt, "per chat"),
			PerGroup: rapid.IntRange(1, 6).Draw(rt, "per group"),
			Global:   rapid.IntRange(2, 8).Draw(rt, "global"),
		}
		gaps := rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 80).Draw(rt, "gaps in ms")
		chats := rapid.SliceOfN(rapid.SampledFrom([]int64{1001, 1002, -5}), len(gaps), len(gaps)).Draw(rt, "chats")
		var accepted []telegramsim.Message
		synctest.Test(t, func(t *testing.T) {
			sim := newSim(t, open(telegramsim.Options{Limits: limits}))
			for i, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Millisecond)
				text(t, sim, chats[i])
			}
			accepted = sim.Ledger(0)
		})
		require.NotEmpty(rt, accepted)
		requireWindow(rt, accepted, 1001, 3*time.Second, limits.PerChat)
		requireWindow(rt, accepted, 1002, 3*time.Second, limits.PerChat)
		requireWindow(rt, accepted, -5, time.Minute, limits.PerGroup)
		requireWindow(rt, accepted, 0, time.Second, limits.Global)
	})
}

// requireWindow looks at one chat, or at all when chatID is 0.
func requireWindow(t require.TestingT, list []telegramsim.Message, chatID int64, span time.Duration, limit int) {
	for i, m := range list {
		n := 0
		for _, later := range list[i:] {
			if later.Time.Sub(m.Time) < span && (chatID == 0 || later.ChatID == chatID) {
				n++
			}
		}
		require.LessOrEqual(t, n, limit, fmt.Sprint("window of ", span))
	}
}

func text(t *testing.T, sim *telegramsim.Sim, chatID int64) envelope {
	t.Helper()
	return direct(t, sim, "sendMessage", params{"chat_id": chatID, "text": "x"})
}

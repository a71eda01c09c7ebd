package telegramsim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestPulseCountsTheRequestsOfEachFullSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{Limits: telegramsim.Limits{PerChat: 2, PerChatWindow: 10 * time.Second}})
		sim.CreateChat(telegramsim.Chat{ID: 5})
		for range 3 {
			direct(t, sim, "sendMessage", params{"chat_id": "5", "text": "x"})
		}
		direct(t, sim, "getUpdates", params{"offset": "0"})
		rates := readPulse(t, sim).Rates
		require.Len(t, rates, 60)
		require.Zero(t, rates[59].All, "the running second is not counted yet")

		<-time.After(time.Second)
		rates = readPulse(t, sim).Rates
		require.Equal(t, 3, rates[59].All, "polls are left out")
		require.Equal(t, 1, rates[59].Limited)

		<-time.After(59 * time.Second)
		require.Equal(t, 3, readPulse(t, sim).Rates[0].All)
		<-time.After(time.Second)
		require.Zero(t, readPulse(t, sim).Rates[0].All)
	})
}

package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// The network is gone for a minute, or for as long as make outage says: to
// Telegram, to Temporal, to both. Only these tests catch what is lost, or given
// up, because that took longer than somebody had in mind.

var awayFor = flag.Duration("away.for", time.Minute, "how long the network is gone")

func TestAwayNothingIsLostAndNothingDiesOfIt(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]struct{ telegram, temporal bool }{
		"Telegram": {telegram: true},
		"Temporal": {temporal: true},
		"both":     {telegram: true, temporal: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newAway(t)
			cut := time.Now()
			var ways []*relay
			if gone.telegram {
				ways = append(ways, x.road)
			}
			if gone.temporal {
				ways = append(ways, x.wire)
			}
			for _, way := range ways {
				way.cut()
			}
			x.meanwhile(cut, gone.temporal)
			for _, way := range ways {
				way.reopen()
			}
			x.judge(!gone.telegram)
		})
	}
}

// away is a world whose roads can be cut, with something of everything under way.
type away struct {
	*world
	wire, road *relay
	bot        *bot
	later      time.Time // when a message is due
	asked      []string  // by each of the people who write meanwhile
}

const (
	inTheAir     = 3000 // whose request is in the air, here and where a stop is tried
	dueMeanwhile = 3001
	mailedAway   = 200
	firstAway    = 5000
)

// newAway returns when 20 updates are being handled, a broadcast is on its way, a
// message is due in the middle of what follows, and a request is in the air.
func newAway(t *testing.T) *away {
	t.Helper()
	w := newWorld(t, telegramsLimits)
	x := &away{world: w, wire: w.wire(), road: w.road(), later: time.Now().Add(*awayFor / 2)}
	for _, chat := range []int64{inTheAir, dueMeanwhile} {
		x.CreateChat(telegramsim.Chat{ID: chat})
	}
	x.bot = x.startVia(x.wire.addr).onDuty()
	scheduled := text(dueMeanwhile, "due meanwhile")
	scheduled.At = x.later
	_, err := x.enqueue("due", scheduled)
	require.NoError(t, err)
	x.mail("news", x.audience(firstAway, mailedAway))
	x.twenty()
	x.Fault(telegramsim.Fault{Method: "sendMessage", ChatID: inTheAir, Times: 1, Kind: telegramsim.FaultDelayAfter, Wait: 6 * time.Second})
	_, err = x.enqueue("air", text(inTheAir, "in the air"))
	require.NoError(t, err)
	x.eventually("one is in the air", func() bool { return len(x.Ledger(inTheAir)) == 1 })
	return x
}

// meanwhile lets people write until the time is over.
func (x *away) meanwhile(cut time.Time, notReady bool) {
	x.t.Helper()
	const rounds = 6
	for n := range rounds {
		words := fmt.Sprintf("meanwhile %d", n)
		x.asked = append(x.asked, "re: "+words)
		for chat := range int64(5) {
			x.SendText(1101+chat, words)
		}
		x.pass(cut.Add(*awayFor * time.Duration(n+1) / rounds))
		if n == rounds/2 {
			x.says(notReady)
		}
	}
}

// says is what the process says of it: that it cannot work, or that it waits.
func (x *away) says(notReady bool) {
	x.t.Helper()
	status, _ := x.bot.get("/healthz")
	require.Equal(x.t, http.StatusOK, status, "a restart would mend nothing")
	if !notReady {
		require.True(x.t, x.bot.degraded())
		return
	}
	require.True(x.t, x.bot.notReady(""))
}

// judge: all is answered, once and in order, and nobody has to do anything. Where
// answers were not cut off, none is in doubt.
func (x *away) judge(certain bool) {
	x.t.Helper()
	x.eventually("the twenty are answered", func() bool {
		for chat := range int64(10) {
			if len(x.Ledger(1001+chat)) < 2 {
				return false
			}
		}
		return true
	})
	x.inOrder()
	for chat := range int64(5) {
		x.eventually("who wrote meanwhile is answered", func() bool { return len(x.Ledger(1101+chat)) >= len(x.asked) })
		require.Equal(x.t, x.asked, x.texts(1101+chat))
	}
	ends := x.outcomes(contract.MessageID(x.world.bot, "due"), contract.MessageID(x.world.bot, "air"))
	require.Equal(x.t, contract.Delivered, ends[0].Outcome)
	require.Len(x.t, x.Ledger(dueMeanwhile), 1)
	require.False(x.t, x.Ledger(dueMeanwhile)[0].Time.Before(x.later.Truncate(time.Millisecond)))
	require.Equal(x.t, contract.Delivered, ends[1].Outcome)
	require.Equal(x.t, len(x.Ledger(inTheAir)) > 1, ends[1].PossibleDuplicate)
	require.False(x.t, certain && ends[1].PossibleDuplicate, "its answer was heard")
	x.judgeNews(certain)
	x.dead(0)
	x.oneVoice()
	require.False(x.t, x.bot.ended(), "the process needed no help")
	x.eventually("it is well again", func() bool { return x.bot.well() })
}

func (x *away) judgeNews(certain bool) {
	x.t.Helper()
	x.eventually("the broadcast has ended", func() bool { return x.mailing("news").State == "done" })
	outcomes := x.report("news")
	require.Len(x.t, outcomes, mailedAway)
	for i := range int64(mailedAway) {
		copies, outcome := len(x.Ledger(firstAway+i)), outcomes[fmt.Sprint(firstAway+i)]
		require.LessOrEqual(x.t, copies, 1)
		require.True(x.t, outcome == "delivered" && copies == 1 || outcome == "uncertain" && !certain, "%s, and %d copies", outcome, copies)
	}
}

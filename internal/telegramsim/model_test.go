package telegramsim_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

// queueModel is the queue's contract in its shortest form: ids in a list.
type queueModel struct {
	ids  []int64
	next int64
}

func (q *queueModel) poll(offset int64, limit int) []int64 {
	head := q.next
	if len(q.ids) > 0 {
		head = q.ids[0]
	}
	switch {
	case offset < 0:
		q.ids = q.ids[max(0, len(q.ids)+int(offset)):]
	case offset > 0 && offset <= q.next+10 && offset >= head-100_000:
		for len(q.ids) > 0 && q.ids[0] < offset {
			q.ids = q.ids[1:]
		}
	}
	return append([]int64{}, q.ids[:min(len(q.ids), min(max(limit, 1), 100))]...)
}

func TestQueueAgreesWithItsModelForAnyOffset(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sim, err := telegramsim.New(telegramsim.Options{NoPollRules: true, Seed: rapid.Int64().Draw(rt, "seed")})
		require.NoError(rt, err)
		model := queueModel{next: sim.Confirmed()}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			for range rapid.IntRange(0, 5).Draw(rt, "arrivals") {
				model.ids = append(model.ids, model.next)
				require.Equal(rt, model.next, sim.SendText(1001, "x"))
				model.next++
			}
			offset := rapid.OneOf(
				rapid.Int64Range(-8, 0),
				rapid.Int64Range(model.next-20, model.next+14),
				rapid.Int64Range(1, 3),
			).Draw(rt, "offset")
			limit := rapid.IntRange(-2, 120).Draw(rt, "limit")
			got := updateIDs(t, direct(t, sim, "getUpdates", params{"offset": offset, "limit": limit}))
			require.Equal(rt, model.poll(offset, limit), got)
			require.Equal(rt, len(model.ids), sim.Pending())
		}
		require.NoError(rt, sim.Close())
	})
}

// TestPenaltiesOnlyEverGrowWhileIgnored checks the growth law for any rhythm of
// calls: each violation multiplies the wait, up to the cap, and waiting the time
// that was told always ends it.
func TestPenaltiesOnlyEverGrowWhileIgnored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.IntRange(10, 100).Draw(rt, "first")
		gaps := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 12).Draw(rt, "gaps")
		var waits []int
		var violations int64
		var ended envelope
		synctest.Test(t, func(t *testing.T) {
			sim := newSim(t, open(telegramsim.Options{Limits: telegramsim.Limits{MaxPenalty: time.Hour}}))
			sim.Penalise(1001, time.Duration(first)*time.Second)
			waits = append(waits, text(t, sim, 1001).Parameters.RetryAfter)
			for _, gap := range gaps {
				time.Sleep(time.Duration(gap) * time.Second)
				waits = append(waits, text(t, sim, 1001).Parameters.RetryAfter)
			}
			violations = sim.Violations()
			time.Sleep(time.Duration(waits[len(waits)-1]) * time.Second)
			ended = text(t, sim, 1001)
		})
		require.Equal(rt, first, waits[0])
		want := first
		for _, wait := range waits[1:] {
			want = min(2*want, 3600)
			require.Equal(rt, want, wait)
		}
		require.Equal(rt, int64(len(gaps)), violations)
		require.True(rt, ended.OK)
	})
}

// TestAnyHistorySurvivesARestart replays random lives of a simulator and compares
// all that can be seen before and after.
func TestAnyHistorySurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		opts := open(telegramsim.Options{
			NoPollRules: true, Limits: telegramsim.Limits{Off: true},
			StateFile: filepath.Join(dir, rapid.StringMatching(`[a-z]{12}`).Draw(rt, "file")),
		})
		before, err := telegramsim.New(opts)
		require.NoError(rt, err)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			live(t, before, rapid.SampledFrom([]int64{1001, 1002, -5, -6}).Draw(rt, "chat"), rapid.IntRange(0, 7).Draw(rt, "what"))
		}
		require.NoError(rt, before.Close())
		after, err := telegramsim.New(opts)
		require.NoError(rt, err)
		require.Equal(rt, before.Chats(), after.Chats())
		require.Equal(rt, before.Confirmed(), after.Confirmed())
		require.Equal(rt, before.Pending(), after.Pending())
		require.Equal(rt, texts(before.Messages(0)), texts(after.Messages(0)))
		pending := direct(t, before, "getUpdates", nil)
		require.Equal(rt, string(pending.Result), string(direct(t, after, "getUpdates", nil).Result))
		require.Equal(rt, before.SendText(1001, "next"), after.SendText(1001, "next"), "ids go on alike")
		require.NoError(rt, after.Close())
	})
}

// live does one thing of a simulator's life.
func live(t *testing.T, sim *telegramsim.Sim, chatID int64, what int) {
	t.Helper()
	switch what {
	case 0, 1:
		sim.SendText(chatID, "from a user")
	case 2:
		text(t, sim, chatID)
	case 3:
		direct(t, sim, "editMessageText", params{"chat_id": chatID, "message_id": 2, "text": "edited"})
	case 4:
		direct(t, sim, "deleteMessage", params{"chat_id": chatID, "message_id": 2})
	case 5:
		sim.Block(chatID)
	case 6:
		direct(t, sim, "getUpdates", params{"offset": sim.Confirmed() + 1})
	case 7:
		sim.Deactivate(chatID)
	}
}

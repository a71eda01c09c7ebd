package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestWhatIsOnItsWayIsServedAgainOnceTheWebhookIsGone(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(*testing.T, *telegramsim.Sim){
		"deleteWebhook": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.True(t, direct(t, sim, "deleteWebhook", nil).OK)
		},
		"setWebhook without url": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.True(t, direct(t, sim, "setWebhook", nil).OK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: 5 * time.Second}))
				id := sim.SendText(1001, "x")
				time.Sleep(time.Second)
				require.Len(t, r.all(), 2)
				remove(t, sim)
				time.Sleep(10 * time.Second)
				require.Equal(t, id, sim.Confirmed(), "a late success confirms nothing")
				require.Equal(t, []int64{id}, updateIDs(t, direct(t, sim, "getUpdates", nil)))
				require.Len(t, r.all(), 2, "nothing is delivered any more")
				require.False(t, sim.Redeliver(id))
				require.Empty(t, webhookInfo(t, sim).Error)
			})
		})
	}
}

// TestAnAnswerThatMeetsTheEndOfItsWebhookConfirmsNothing: the receiver takes its
// webhook away before it answers well.
func TestAnAnswerThatMeetsTheEndOfItsWebhookConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sim *telegramsim.Sim
		sim, _ = unhooked(t, telegramsim.Options{}, func(delivered) answer {
			direct(t, sim, "deleteWebhook", nil)
			return answer{body: `{"method":"sendMessage","chat_id":1001,"text":"hi"}`, kind: "application/json"}
		})
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL}).OK)
		for range 20 {
			sim.SendText(1001, "x")
			synctest.Wait()
			require.Equal(t, 1, sim.Pending())
			require.Empty(t, sim.Ledger(0))
			require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL, "drop_pending_updates": true}).OK)
		}
	})
}

func TestAnotherWebhookGetsWhatTheFirstHadNotConfirmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {after: 30 * time.Second}}[d.url == hookURL]
		})
		id := sim.SendText(1001, "x")
		time.Sleep(time.Second)
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL + "2"}).OK)
		synctest.Wait()
		got := r.all()[2]
		require.Equal(t, id, got.id)
		require.Equal(t, hookURL+"2", got.url)
		require.Zero(t, sim.Pending())
		last := sim.Deliveries()[2]
		require.Equal(t, 2, last.Attempt)
		require.True(t, last.Overlapped, "the first receiver was cut off and may be at work")
	})
}

func TestDroppingThePendingOnesWithAWebhookDropsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{status: 500}))
		sim.SendText(1001, "x")
		synctest.Wait()
		require.True(t, direct(t, sim, "setWebhook", params{"url": hookURL, "drop_pending_updates": true}).OK)
		before := len(r.all())
		time.Sleep(time.Hour)
		require.Len(t, r.all(), before)
		require.Zero(t, sim.Pending())
	})
}

func TestRestartedIDsDropWhatIsOnItsWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {after: 5 * time.Second}}[d.nth == 1]
		})
		sim.SendText(1001, "x")
		synctest.Wait()
		sim.RestartIDs()
		synctest.Wait()
		require.False(t, sim.Deliveries()[1].Answered.IsZero(), "it is cut")
		id := sim.SendText(1001, "y")
		time.Sleep(time.Minute)
		require.Equal(t, id, r.ids()[2])
		require.Len(t, r.all(), 3)
		require.Equal(t, id+1, sim.Confirmed())
	})
}

func TestStraysAndGarbageReachAWebhookToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: time.Second}))
		sim.PushRaw([]byte(`}{`))
		synctest.Wait()
		id := sim.SendText(1001, "once")
		copied := sim.Push(fmt.Appendf(nil, `{"update_id":%d,"message":{"chat":{"id":1001},"text":"the same again"}}`, id))
		require.Equal(t, id, copied)
		require.Equal(t, int64(3), sim.Push(json.RawMessage(`{"update_id":3,"message":{"chat":{"id":1002}}}`)))
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []int64{0, id, id, 3}, r.ids()[1:])
		require.Equal(t, `}{`, r.all()[1].body)
		require.Zero(t, sim.Pending())
		require.Equal(t, id+1, sim.Confirmed())
	})
}

// TestConfirmedIsTheFirstThatStillWaits: lanes confirm out of order.
func TestConfirmedIsTheFirstThatStillWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits := map[int64]time.Duration{}
		sim, _ := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer { return answer{after: waits[d.id] + 1} })
		first := sim.Confirmed()
		for n, seconds := range []int{3, 1, 4, 2} {
			waits[first+int64(n)] = time.Duration(seconds) * time.Second
		}
		for n := range 4 {
			sim.SendText(int64(1001+n), "x")
		}
		for _, want := range []struct{ confirmed, pending int64 }{{0, 4}, {0, 3}, {0, 2}, {2, 1}, {4, 0}} {
			time.Sleep(time.Millisecond)
			require.Equal(t, first+want.confirmed, sim.Confirmed())
			require.Equal(t, int(want.pending), sim.Pending())
			time.Sleep(time.Second - time.Millisecond)
		}
	})
}

func TestAStateFileOfBeforeDeliveriesStillHasItsWebhook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "sim.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"webhook":"https://example.org/hook","next":7,"confirmed":7}`), 0o600))
		sim, r := unhooked(t, telegramsim.Options{StateFile: file}, nil)
		sim.SendText(1001, "x")
		time.Sleep(time.Second)
		require.Equal(t, []int64{7}, r.ids())
		require.Equal(t, 40, webhookInfo(t, sim).MaxConnections)
	})
}

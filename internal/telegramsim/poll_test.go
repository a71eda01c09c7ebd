package telegramsim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestOnlyAnOffsetConfirms(t *testing.T) {
	t.Parallel()
	b := free(t)
	first := b.SendText(1001, "1")
	b.SendText(1001, "2")
	b.SendText(1001, "3")
	want := []int64{first, first + 1, first + 2}
	require.Equal(t, want, updateIDs(t, b.call("getUpdates", nil)))
	require.Equal(t, want, updateIDs(t, b.call("getUpdates", params{"offset": 0})))
	require.Equal(t, first, b.Confirmed())
	require.Equal(t, want[1:], updateIDs(t, b.call("getUpdates", params{"offset": first + 1})))
	require.Equal(t, first+1, b.Confirmed())
	require.Equal(t, 2, b.Pending())
	require.Equal(t, want[1:2], updateIDs(t, b.call("getUpdates", params{"limit": -5})))
}

func TestOffsetsOutOfRangeFollowTheRealRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		offset  func(first, next int64) int64
		left    int
		waiting bool
	}{
		{"far beyond the tail starts at the head", func(_, next int64) int64 { return next + 11 }, 3, false},
		{"just beyond the tail confirms everything", func(_, next int64) int64 { return next + 10 }, 0, true},
		{"far before the head starts at the head", func(first, _ int64) int64 { return first - 100_001 }, 3, false},
		{"negative keeps only the last", func(_, _ int64) int64 { return -1 }, 1, false},
		{"negative beyond the queue keeps all", func(_, _ int64) int64 { return -9 }, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			first := b.SendText(1001, "1")
			b.SendText(1001, "2")
			last := b.SendText(1001, "3")
			e := b.call("getUpdates", params{"offset": c.offset(first, last+1)})
			require.Len(t, updateIDs(t, e), c.left)
			require.Equal(t, c.left, b.Pending())
		})
	}
}

// TestConfirmationNeverLosesAnUnconfirmedUpdate runs any mix of arrivals and
// polls against the rule in one line: what is served is what no offset passed.
func TestConfirmationNeverLosesAnUnconfirmedUpdate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sim, err := telegramsim.New(telegramsim.Options{NoPollRules: true, Seed: rapid.Int64().Draw(rt, "seed")})
		require.NoError(rt, err)
		var pending []int64
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "arrives") {
				pending = append(pending, sim.SendText(1001, "x"))
				continue
			}
			offset := sim.Confirmed()
			if len(pending) > 0 {
				offset = pending[0] + int64(rapid.IntRange(0, len(pending)).Draw(rt, "ahead"))
			}
			for len(pending) > 0 && pending[0] < offset {
				pending = pending[1:]
			}
			limit := rapid.IntRange(1, 100).Draw(rt, "limit")
			got := updateIDs(t, direct(t, sim, "getUpdates", params{"offset": offset, "limit": limit}))
			require.Equal(rt, append([]int64{}, pending[:min(limit, len(pending))]...), got)
			require.Equal(rt, len(pending), sim.Pending())
		}
		require.NoError(rt, sim.Close())
	})
}

func TestLongPollWakesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		start := time.Now()
		answers := poll(t, sim, params{"timeout": 50})
		synctest.Wait()
		sim.SendText(1001, "hello")
		require.Len(t, updateIDs(t, <-answers), 1)
		require.Zero(t, time.Since(start))
	})
}

func TestLongPollEndsWithItsTimeoutOfAtMostFiftySeconds(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int]time.Duration{0: 0, 10: 10 * time.Second, 60: 50 * time.Second} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				start := time.Now()
				require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", params{"timeout": asked})))
				require.Equal(t, want, time.Since(start))
			})
		})
	}
}

func TestHastyPollerIsHeldBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		direct(t, sim, "getUpdates", params{"offset": 5})
		start := time.Now()
		require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", params{"offset": 5})))
		require.Equal(t, 3*time.Second, time.Since(start), "same offset within 3 s")

		sim.SendText(1001, "1")
		sim.SendText(1001, "2")
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 2)
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 1, "same offset within 0.5 s")
		time.Sleep(500 * time.Millisecond)
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 2)
	})
}

func TestNewerWaitingPollEndsTheOlder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		start := time.Now()
		first := poll(t, sim, params{"timeout": 50, "offset": 1})
		synctest.Wait()
		second := poll(t, sim, params{"timeout": 50, "offset": 2})
		e := <-first
		require.Equal(t, 409, e.Code)
		require.Equal(t, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", e.Description)
		require.Zero(t, time.Since(start), "the first conflict is not delayed")

		third := poll(t, sim, params{"timeout": 50, "offset": 3})
		require.Equal(t, 409, (<-second).Code)
		require.Equal(t, 3*time.Second, time.Since(start), "the next one is spaced")
		sim.SendText(1001, "x")
		require.Len(t, updateIDs(t, <-third), 1)
		for _, r := range sim.Requests() {
			require.True(t, r.Overlapped)
		}
	})
}

func TestNewerPollThatFindsUpdatesLeavesTheOlderAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		waiting := poll(t, sim, params{"timeout": 50, "offset": 5})
		synctest.Wait()
		require.Empty(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), "a poll that need not wait ends nothing")
		sim.SendText(1001, "x")
		require.Len(t, updateIDs(t, <-waiting), 1)
	})
}

func TestAnswerToADeadClientConfirmsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		ctx, hangUp := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/bot"+sim.Token()+"/getUpdates?timeout=50", nil)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			sim.Handler().ServeHTTP(httptest.NewRecorder(), req)
		}()
		synctest.Wait()
		hangUp()
		<-ended
		id := sim.SendText(1001, "x")
		require.Equal(t, []int64{id}, updateIDs(t, direct(t, sim, "getUpdates", nil)))
		log := sim.Requests()
		require.True(t, log[0].Hung)
		require.False(t, log[0].Overlapped)
	})
}

func TestWebhookMakesPollingConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		waiting := poll(t, sim, params{"timeout": 50})
		synctest.Wait()
		require.True(t, direct(t, sim, "setWebhook", params{"url": "https://example.org/hook"}).OK)
		require.Equal(t, "Conflict: terminated by setWebhook request", (<-waiting).Description)
		e := direct(t, sim, "getUpdates", nil)
		require.Equal(t, 409, e.Code)
		require.Contains(t, e.Description, "can't use getUpdates method while webhook is active")

		sim.SendText(1001, "x")
		var info struct {
			URL     string `json:"url"`
			Pending int    `json:"pending_update_count"`
		}
		require.NoError(t, json.Unmarshal(direct(t, sim, "getWebhookInfo", nil).Result, &info))
		require.Equal(t, "https://example.org/hook", info.URL)
		require.Equal(t, 1, info.Pending)
		require.True(t, direct(t, sim, "deleteWebhook", params{"drop_pending_updates": true}).OK)
		require.Zero(t, sim.Pending())
	})
}

func TestUpdatesExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(48 * time.Hour)
		sim := newSim(t, telegramsim.Options{})
		sim.SendText(1001, "x")
		sim.Push(json.RawMessage(`{"callback_query":{"id":"9"}}`))
		sim.Push(json.RawMessage(`{"inline_query":{"id":"9"}}`))
		require.Zero(t, sim.Push(fmt.Appendf(nil, `{"message":{"date":%d}}`, time.Now().Add(-24*time.Hour).Unix())), "older than a day")
		require.NotZero(t, sim.Push(json.RawMessage(`{"message":{"date":1}}`)), "a fixture's date")
		require.Equal(t, 4, sim.Pending())
		time.Sleep(30 * time.Second)
		require.Equal(t, 3, sim.Pending())
		time.Sleep(120 * time.Second)
		require.Equal(t, 2, sim.Pending())
		time.Sleep(24 * time.Hour)
		require.Zero(t, sim.Pending())
	})
}

func TestAllowedUpdatesActWhenAnUpdateIsMade(t *testing.T) {
	t.Parallel()
	b := free(t)
	reaction := json.RawMessage(`{"message_reaction":{}}`)
	require.Zero(t, b.Push(reaction), "opt-in kinds are off by default")
	b.call("getUpdates", params{"allowed_updates": []string{"message_reaction", "nonsense"}})
	require.NotZero(t, b.Push(reaction))
	require.Zero(t, b.SendText(1001, "x"))
	b.call("getUpdates", nil)
	require.Zero(t, b.SendText(1001, "x"), "absent keeps the list")
	for _, list := range []any{[]string{}, []string{"nonsense"}} {
		b.call("getUpdates", params{"allowed_updates": []string{"poll"}})
		b.call("getUpdates", params{"allowed_updates": list})
		require.NotZero(t, b.SendText(1001, "x"), "empty or unknown is the default")
	}
	require.NotZero(t, b.Push(json.RawMessage(`{"kind_of_the_future":{}}`)))
}

func TestPushedUpdatesAreServedVerbatim(t *testing.T) {
	t.Parallel()
	b := free(t)
	require.Equal(t, int64(5_000_000_000), b.Push(json.RawMessage(`{"update_id":5000000000,"x":{"n":1.50}}`)))
	require.Equal(t, int64(7), b.Push(json.RawMessage(`{"update_id":7,"message":{"message_id":1}}`)), "an id already passed")
	b.PushRaw([]byte(`"garbage"`))
	require.JSONEq(t, `[{"update_id":5000000000,"x":{"n":1.50}},"garbage",{"update_id":7,"message":{"message_id":1}}]`,
		string(b.call("getUpdates", nil).Result))
	b.call("getUpdates", params{"offset": 5_000_000_002})
	require.Zero(t, b.Pending())
	require.Zero(t, b.Push(json.RawMessage(`[]`)))

	b.PushRaw([]byte(`}{`))
	_, raw, err := b.post("getUpdates", nil)
	require.NoError(t, err)
	require.Contains(t, string(raw), `"result":[}{]`)
}

func TestAnswersAreCutAtFourMebibytes(t *testing.T) {
	t.Parallel()
	b := free(t)
	big := json.RawMessage(`{"message":{"text":"` + strings.Repeat("x", 500<<10) + `"}}`)
	for range 12 {
		require.NotZero(t, b.Push(big))
	}
	require.Len(t, updateIDs(t, b.call("getUpdates", nil)), 8)
	require.Zero(t, b.Push(json.RawMessage(`{"message":{"text":"`+strings.Repeat("x", 513<<10)+`"}}`)), "over the size of one update")
}

func TestQueueDropsWhatIsBeyondItsCap(t *testing.T) {
	t.Parallel()
	b := free(t)
	for range 100_000 {
		b.PushRaw([]byte(`{}`))
	}
	require.Zero(t, b.PushRaw([]byte(`{}`)))
	require.Equal(t, 100_000, b.Pending())
}

func TestIDsAreSeededAndRestart(t *testing.T) {
	t.Parallel()
	one := newSim(t, telegramsim.Options{Seed: 1})
	again := newSim(t, telegramsim.Options{Seed: 1})
	other := newSim(t, telegramsim.Options{Seed: 2})
	id := one.SendText(1001, "x")
	require.Equal(t, id, again.SendText(1001, "x"))
	require.NotEqual(t, id, other.SendText(1001, "x"))
	require.Equal(t, id+1, one.SendText(1001, "x"))
	one.RestartIDs()
	require.Zero(t, one.Pending())
	require.NotEqual(t, id+2, one.SendText(1001, "x"))
}

// poll asks for updates in the background.
func poll(t *testing.T, sim *telegramsim.Sim, p params) <-chan envelope {
	t.Helper()
	req := request(t, sim, "getUpdates", p)
	answers := make(chan envelope, 1)
	go func() {
		rec := httptest.NewRecorder()
		sim.Handler().ServeHTTP(rec, req)
		e := envelope{Header: rec.Header()}
		if err := json.Unmarshal(rec.Body.Bytes(), &e); err != nil {
			t.Error(err)
		}
		answers <- e
	}()
	return answers
}

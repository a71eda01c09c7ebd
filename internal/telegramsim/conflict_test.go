package telegramsim_test

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

const (
	otherPoller    = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	webhookActive  = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
	endedByWebhook = "Conflict: terminated by setWebhook request"
)

// TestWhatEndsAWaitingPoll is the table of all that may happen while a long poll
// waits, and of what the poll is told.
func TestWhatEndsAWaitingPoll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		happen func(t *testing.T, sim *telegramsim.Sim)
		code   int
		text   string
	}{
		{"a second waiting poll", func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			poll(t, sim, params{"timeout": 1, "offset": 7})
		}, 409, otherPoller},
		{"a webhook", func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			direct(t, sim, "setWebhook", params{"url": "https://example.org"})
		}, 409, endedByWebhook},
		{"a webhook that is refused", func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.Equal(t, 400, direct(t, sim, "setWebhook", params{"url": "http://plain.example"}).Code)
		}, 409, endedByWebhook},
		{"a revoked token", func(_ *testing.T, sim *telegramsim.Sim) { sim.Revoke() }, 401, "Unauthorized"},
		{"a new token", func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.NoError(t, sim.SetToken("700000001:new"))
		}, 401, "Unauthorized"},
		{"a restart", func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.NoError(t, sim.Close())
		}, 500, "Internal Server Error: restart"},
		{"an update", func(_ *testing.T, sim *telegramsim.Sim) { sim.SendText(1001, "x") }, 0, ""},
		{"bytes that are no update", func(_ *testing.T, sim *telegramsim.Sim) { sim.PushRaw([]byte(`7`)) }, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				start := time.Now()
				waiting := poll(t, sim, params{"timeout": 50})
				synctest.Wait()
				c.happen(t, sim)
				e := <-waiting
				require.Equal(t, c.code, e.Code)
				require.Equal(t, c.text, e.Description)
				require.Zero(t, time.Since(start), "at once")
				time.Sleep(2 * time.Second) // the second poll ends as well
			})
		})
	}
}

func TestWhatLeavesAWaitingPollAlone(t *testing.T) {
	t.Parallel()
	for name, happen := range map[string]func(t *testing.T, sim *telegramsim.Sim){
		"a poll that need not wait": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.True(t, direct(t, sim, "getUpdates", params{"offset": 9}).OK)
		},
		"a poll with a wrong token": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			req := request(t, sim, "getUpdates", params{"timeout": 1})
			req.URL.Path = "/bot1:wrong/getUpdates"
			rec := httptest.NewRecorder()
			sim.Handler().ServeHTTP(rec, req)
			require.Equal(t, 401, rec.Code)
		},
		"a webhook that is taken away": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			require.True(t, direct(t, sim, "setWebhook", nil).OK)
			require.True(t, direct(t, sim, "deleteWebhook", nil).OK)
		},
		"sends and reads": func(t *testing.T, sim *telegramsim.Sim) {
			t.Helper()
			direct(t, sim, "getMe", nil)
			direct(t, sim, "getWebhookInfo", nil)
			sim.Penalise(0, time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				waiting := poll(t, sim, params{"timeout": 50})
				synctest.Wait()
				happen(t, sim)
				synctest.Wait()
				require.Empty(t, waiting)
				id := sim.SendText(1001, "x")
				require.Equal(t, []int64{id}, updateIDs(t, <-waiting))
			})
		})
	}
}

// TestConflictsOfEitherKindShareOneSpacing: a 409 soon after another is delayed,
// whoever gets it (tdlib/telegram-bot-api Client.cpp, fail_query_conflict).
func TestConflictsOfEitherKindShareOneSpacing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		start := time.Now()
		waiting := poll(t, sim, params{"timeout": 50})
		synctest.Wait()
		direct(t, sim, "setWebhook", params{"url": "https://example.org"})
		require.Equal(t, endedByWebhook, (<-waiting).Description)
		require.Equal(t, webhookActive, direct(t, sim, "getUpdates", nil).Description)
		require.Equal(t, 3*time.Second, time.Since(start))
		time.Sleep(3 * time.Second)
		require.Equal(t, webhookActive, direct(t, sim, "getUpdates", nil).Description)
		require.Equal(t, 6*time.Second, time.Since(start), "a patient poller is not delayed")
	})
}

func TestPollingWorksAgainOnceTheWebhookIsGone(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]struct {
		method string
		params params
		left   int
	}{
		"deleteWebhook":              {"deleteWebhook", nil, 1},
		"deleteWebhook and drop":     {"deleteWebhook", params{"drop_pending_updates": true}, 0},
		"setWebhook without url":     {"setWebhook", nil, 1},
		"setWebhook empty, and drop": {"setWebhook", params{"url": "", "drop_pending_updates": "True"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := free(t)
			require.True(t, b.call("setWebhook", params{"url": "https://example.org"}).OK)
			b.SendText(1001, "meanwhile")
			require.Equal(t, 409, b.call("getUpdates", nil).Code)
			require.True(t, b.call(remove.method, remove.params).OK)
			require.Len(t, updateIDs(t, b.call("getUpdates", nil)), remove.left, "both read the same queue")
		})
	}
}

func TestSettingAWebhookCanDropTheQueue(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "x")
	b.Push([]byte(`{"update_id":3,"message":{}}`))
	require.True(t, b.call("setWebhook", params{"url": "https://example.org", "drop_pending_updates": 1}).OK)
	require.Zero(t, b.Pending())
}

func TestOverlapIsSeenForEveryPairOfOpenPolls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		waiting := poll(t, sim, params{"timeout": 50})
		time.Sleep(time.Second)
		direct(t, sim, "getUpdates", nil)
		sim.SendText(1001, "x")
		<-waiting
		synctest.Wait()
		direct(t, sim, "getUpdates", nil)
		var overlapped []bool
		for _, r := range sim.Requests() {
			overlapped = append(overlapped, r.Overlapped)
		}
		require.Equal(t, []bool{true, true, false}, overlapped)
	})
}

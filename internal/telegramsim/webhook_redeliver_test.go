package telegramsim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestAnUpdateCanBeDeliveredOnceMoreAtAnyTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, always(answer{after: 5 * time.Second}))
		id := sim.SendText(1001, "x")
		behind := sim.SendText(1001, "y")
		time.Sleep(time.Second)
		require.True(t, sim.Redeliver(id), "while it is open")
		synctest.Wait()
		require.True(t, sim.Redeliver(behind), "while it waits for its lane")
		synctest.Wait()
		require.Equal(t, []int64{id, id, behind}, r.ids()[1:])
		require.Equal(t, r.all()[1].body, r.all()[2].body)
		log := sim.Deliveries()[1:]
		require.Equal(t, []int{1, 2, 1}, []int{log[0].Attempt, log[1].Attempt, log[2].Attempt})
		require.Equal(t, []bool{false, true, false}, []bool{log[0].Overlapped, log[1].Overlapped, log[2].Overlapped})

		time.Sleep(time.Minute)
		require.Zero(t, sim.Pending())
		require.Equal(t, []int64{id, id, behind, behind}, r.ids()[1:], "its answer confirmed nothing")
		require.True(t, sim.Redeliver(id), "after it was confirmed")
		synctest.Wait()
		last := sim.Deliveries()[5]
		require.Equal(t, 3, last.Attempt)
		require.False(t, last.Overlapped, "all others were answered")
		require.False(t, sim.Redeliver(id+100))
	})
}

func TestAFailedRedeliveryIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, r := hooked(t, telegramsim.Options{}, nil, func(d delivered) answer {
			return map[bool]answer{true: {status: 500}}[d.nth == 2]
		})
		id := sim.SendText(1001, "x")
		synctest.Wait()
		require.True(t, sim.Redeliver(id))
		time.Sleep(time.Hour)
		require.Len(t, r.since(time.Now(), id), 2)
		require.Empty(t, webhookInfo(t, sim).Error)
	})
}

func TestAThousandConfirmedUpdatesAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, _ := hooked(t, telegramsim.Options{}, nil, nil)
		first := sim.SendText(1001, "0")
		synctest.Wait()
		for n := range 1000 {
			sim.SendText(1001+int64(n%50), "x")
		}
		time.Sleep(time.Minute)
		require.Zero(t, sim.Pending())
		require.False(t, sim.Redeliver(first))
		require.True(t, sim.Redeliver(first+1))
	})
}

func TestACallInTheAnswerIsRunAndItsResultLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, body string
		sent             []string
	}{
		{"JSON", "application/json; charset=utf-8", `{"method":"sendMessage","chat_id":1001,"text":"hi"}`, []string{"hi"}},
		{"any case", "application/json", `{"method":"SENDMESSAGE","chat_id":1001,"text":"hi"}`, []string{"hi"}},
		{"a form", "application/x-www-form-urlencoded", `method=sendMessage&chat_id=1001&text=hi`, []string{"hi"}},
		{"one that fails", "application/json", `{"method":"sendMessage","chat_id":1001}`, []string{}},
		{"not said to be JSON", "text/plain", `{"method":"sendMessage","chat_id":1001,"text":"hi"}`, []string{}},
		{"no method", "application/json", `{"chat_id":1001,"text":"hi"}`, []string{}},
		{"no JSON", "application/json", `ok`, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{body: c.body, kind: c.kind}))
				sim.SendText(1001, "x")
				synctest.Wait()
				require.Equal(t, c.sent, texts(sim.Ledger(0)))
				require.Zero(t, sim.Pending(), "it is confirmed, whatever the call did")
			})
		})
	}
}

func TestACallInTheAnswerIsInTheRequestLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := `{"method":"sendMessage","chat_id":1001,"text":"hi"}`
		sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{body: body, kind: "application/json"}))
		sim.SendText(1001, "x")
		synctest.Wait()
		log := sim.Requests()
		last := log[len(log)-1]
		require.Equal(t, "sendMessage", last.Method)
		require.Equal(t, http.StatusOK, last.Status)
		require.Equal(t, int64(1001), last.ChatID)
		require.Equal(t, map[string]string{"chat_id": "1001", "text": "hi"}, last.Params)
		require.False(t, last.Answered.IsZero())
	})
}

func TestSomeCallsInAnAnswerAreNotRun(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"getMe", "getUpdates", "setWebhook", "deleteWebhook", "close", "logOut"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{body: `{"method":"` + method + `"}`, kind: "application/json"}))
				sim.SendText(1001, "x")
				synctest.Wait()
				require.Equal(t, hookURL, webhookInfo(t, sim).URL)
				require.Zero(t, sim.Pending())
				for _, r := range sim.Requests()[1:] {
					require.NotEqual(t, method, r.Method)
				}
			})
		})
	}
}

func TestA429OfAnAnsweredCallIsNotHeldAgainstTheBot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim, _ := hooked(t, telegramsim.Options{}, nil, always(answer{body: `{"method":"sendMessage","chat_id":1001,"text":"hi"}`, kind: "application/json"}))
		sim.SendText(1001, "x")
		sim.Penalise(1001, time.Hour)
		for range 3 {
			sim.SendText(1001, "x")
			time.Sleep(time.Second)
		}
		require.Zero(t, sim.Violations(), "it was never told")
	})
}

func TestDeliveriesAreListedAndRepeatedOverHTTP(t *testing.T) {
	t.Parallel()
	r := &receiver{nth: map[int64]int{}, open: map[int64]int{}, answer: always(answer{})}
	b := setup(t, telegramsim.Options{WebhookTransport: r})
	var list struct{ Deliveries []fields }
	b.admin("GET", "/deliveries", "", 200, &list)
	require.Equal(t, []fields{}, list.Deliveries)
	id := strconv.FormatInt(b.SendText(1001, "x"), 10)
	b.admin("POST", "/webhook/resend", fmt.Sprintf(`{"update_id":%q}`, id), 404, nil)
	require.True(t, b.call("setWebhook", params{"url": hookURL}).OK)
	require.Eventually(t, func() bool { return b.Pending() == 0 }, soon, time.Millisecond)
	b.admin("POST", "/webhook/resend", fmt.Sprintf(`{"update_id":%q}`, id), 200, nil)
	b.admin("POST", "/webhook/resend", `{"update_id":"7"}`, 404, nil)
	b.admin("POST", "/webhook/resend", `{"update_id":"x"}`, 400, nil)
	require.Eventually(t, func() bool {
		b.admin("GET", "/deliveries", "", 200, &list)
		return len(list.Deliveries) == 2 && list.Deliveries[1]["answered"] != nil
	}, soon, time.Millisecond)
	got := list.Deliveries[1]
	require.Equal(t, []any{id, 2.0, 200.0, hookURL}, []any{got["update_id"], got["attempt"], got["status"], got["url"]})
	require.NotContains(t, got, "overlapped")
	_, err := time.Parse(time.RFC3339Nano, got["at"].(string))
	require.NoError(t, err)
	b.admin("GET", "/deliveries?limit=1", "", 200, &list)
	require.Len(t, list.Deliveries, 1)
	require.Equal(t, fields{"attempt": 2.0}["attempt"], list.Deliveries[0]["attempt"])
	raw, err := json.Marshal(b.Deliveries())
	require.NoError(t, err)
	require.NotContains(t, string(raw), b.Token())
}

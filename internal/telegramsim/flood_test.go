package telegramsim_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

func TestFloodKeepsItsPaceAndSpreadsOverChats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		require.NoError(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 10, Chats: 5, PerSecond: 2}))
		require.Error(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 1}), "one at a time")
		time.Sleep(2250 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, telegramsim.FloodStatus{Running: true, Sent: 5, Updates: 10}, sim.Flood())
		time.Sleep(time.Minute)
		require.Equal(t, telegramsim.FloodStatus{Sent: 10, Updates: 10}, sim.Flood())
		require.Len(t, sim.Chats(), 5)
		require.Equal(t, []string{"flood 1", "flood 6"}, texts(sim.Messages(2_000_001)))
		require.Error(t, sim.StartFlood(telegramsim.FloodOptions{}))
	})
}

func TestFloodStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		sim.StopFlood()
		require.NoError(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 1000, PerSecond: 1}))
		time.Sleep(1500 * time.Millisecond)
		sim.StopFlood()
		sim.StopFlood()
		synctest.Wait()
		require.Equal(t, 2, sim.Flood().Sent)
		require.NoError(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 1000, PerSecond: 1}))
		require.NoError(t, sim.Close())
		require.Error(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 1}))
	})
}

func TestFloodIsControlledOverHTTP(t *testing.T) {
	t.Parallel()
	b := free(t)
	var flood fields
	b.admin("POST", "/flood", `{"updates":5000,"chats":2,"per_second":10,"first_chat":"77"}`, 200, &flood)
	require.Equal(t, true, flood["running"])
	b.admin("POST", "/flood", `{"updates":1}`, 409, nil)
	b.admin("DELETE", "/flood", "", 200, nil)
	require.Eventually(t, func() bool { return !b.Flood().Running }, soon, time.Millisecond)
}

// FuzzRequest feeds the handler arbitrary bodies: whatever arrives, it answers
// with its envelope and takes at most one message.
func FuzzRequest(f *testing.F) {
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "x"} {
		f.Add(kind, "sendMessage", `{"chat_id":1001,"text":"x"}`)
		f.Add(kind, "sendMediaGroup", "chat_id=1001&media=%5B%7B%7D")
		f.Add(kind, "sendDocument", "--b\r\nContent-Disposition: form-data; name=\"d\"; filename=\"f\"\r\n\r\nx\r\n--b--")
		f.Add(kind, "getUpdates", `{"offset":-9223372036854775808,"limit":[]}`)
	}
	f.Fuzz(func(t *testing.T, kind, method, body string) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true, Unknown: telegramsim.UnknownCreate})
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		req.URL.Path = "/bot" + sim.Token() + "/" + method
		req.Header.Set("Content-Type", kind)
		if strings.Contains(body, "timeout") {
			t.Skip("would wait")
		}
		rec := httptest.NewRecorder()
		sim.Handler().ServeHTTP(rec, req)
		if rec.Code == http.StatusOK {
			require.Contains(t, rec.Body.String(), `{"ok":true,"result":`)
		}
		require.LessOrEqual(t, len(sim.Ledger(0)), 10)
	})
}

// FuzzPush feeds updates: nothing that is no JSON fields is ever queued.
func FuzzPush(f *testing.F) {
	f.Add(`{"message":{"date":99999999999999}}`)
	f.Add(`{"update_id":-1,"callback_query":{"id":5}}`)
	f.Add(`[1]`)
	f.Add(`null`)
	f.Fuzz(func(t *testing.T, raw string) {
		sim := newSim(t, telegramsim.Options{NoPollRules: true})
		if sim.Push([]byte(raw)) == 0 {
			require.Zero(t, sim.Pending())
			return
		}
		require.Len(t, updateIDs(t, direct(t, sim, "getUpdates", nil)), 1)
	})
}

func BenchmarkSendMessage(b *testing.B) {
	sim, err := telegramsim.New(telegramsim.Options{Limits: telegramsim.Limits{Off: true}, Unknown: telegramsim.UnknownCreate})
	require.NoError(b, err)
	handler := sim.Handler()
	path := "/bot" + sim.Token() + "/sendMessage"
	for n := 0; b.Loop(); n++ {
		req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(fmt.Sprintf(`{"chat_id":%d,"text":"hello"}`, 1+n%1000)))
		req.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(httptest.NewRecorder(), req)
	}
	require.NoError(b, sim.Close())
}

func ExampleSim() {
	sim, err := telegramsim.New(telegramsim.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(sim.Handler())
	defer server.Close()
	sim.SendText(1001, "/start")
	// Telegram takes the message, but its answer is lost.
	sim.Fault(telegramsim.Fault{Method: "sendMessage", Kind: telegramsim.FaultReset, Times: 1})
	if _, err := http.Get(server.URL + "/bot" + sim.Token() + "/sendMessage?chat_id=1001&text=hello"); err != nil {
		fmt.Println("no answer")
	}
	for _, m := range sim.Ledger(1001) {
		fmt.Println(m.ID, m.Text)
	}
	// Output:
	// no answer
	// 2 hello
	if err := sim.Close(); err != nil {
		fmt.Println(err)
	}
}

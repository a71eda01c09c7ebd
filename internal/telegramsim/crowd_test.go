package telegramsim_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// TestAllThatCanBeCalledCanBeCalledAtOnce is for the race detector: every method
// of the Go API, the admin API and the Bot API, side by side.
func TestAllThatCanBeCalledCanBeCalledAtOnce(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.SendText(-5, "hello")
	var crowd sync.WaitGroup
	for name, act := range map[string]func(n int){
		"texts":     func(n int) { b.SendText(1001+int64(n%3), "x") },
		"files":     func(int) { b.SendFile(1001, "a.txt", []byte("x")) },
		"presses":   func(int) { b.PressButton(1001, 1, "x") },
		"states":    func(int) { b.Block(1002); b.Unblock(1002); b.Kick(-7); b.Deactivate(1004) },
		"migration": func(n int) { b.Migrate(-100 - int64(n)) },
		"chats":     func(int) { b.CreateChat(telegramsim.Chat{}); b.Chats() },
		"penalties": func(int) { b.Penalise(1003, time.Second); b.Violations() },
		"limits":    func(int) { b.SetLimits(telegramsim.Limits{Off: true}) },
		"faults": func(int) {
			b.RemoveFault(b.Fault(telegramsim.Fault{Method: "getChat", Kind: telegramsim.FaultStatus}))
			b.ClearFaults()
		},
		"flood":  func(int) { _ = b.StartFlood(telegramsim.FloodOptions{Updates: 5}); b.StopFlood(); b.Flood() },
		"ledger": func(int) { b.Ledger(0); b.Messages(1001); b.Requests() },
		"queue":  func(int) { b.Confirmed(); b.Pending(); b.PushRaw([]byte(`{}`)) },
		"state":  func(int) { b.admin("GET", "/state", "", 200, nil) },
		"send":   func(n int) { b.say(1001, fmt.Sprint(n)) },
		"edit":   func(n int) { b.call("editMessageText", params{"chat_id": 1001, "message_id": 2, "text": n}) },
		"poll":   func(int) { b.call("getUpdates", params{"offset": -1}) },
	} {
		crowd.Go(func() {
			for n := range 20 {
				act(n)
			}
		})
		require.NotEmpty(t, name)
	}
	crowd.Wait()
	b.StopFlood()
	require.GreaterOrEqual(t, len(b.Ledger(1001)), 20)
}

func TestClosingInTheMiddleOfItAllIsOrderly(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	b.Fault(telegramsim.Fault{Method: "getMe", Kind: telegramsim.FaultHang})
	require.NoError(t, b.StartFlood(telegramsim.FloodOptions{Updates: 1_000_000, PerSecond: 1000}))
	var crowd sync.WaitGroup
	for _, method := range []string{"getMe", "getUpdates"} {
		crowd.Go(func() {
			_ = b.attempt(t.Context(), method, params{"timeout": 50, "offset": 1 << 40, "allowed_updates": `["poll"]`})
		})
	}
	require.Eventually(t, func() bool { return len(b.Requests()) == 2 && b.Flood().Sent > 0 }, soon, time.Millisecond)
	var closers sync.WaitGroup
	for range 4 {
		closers.Go(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closers.Wait()
	crowd.Wait()
	require.False(t, b.Flood().Running, "Close waits for the flood")
}

// TestAFloodKeepsToItsOptions counts what came, when and from whom.
func TestAFloodKeepsToItsOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		opts  telegramsim.FloodOptions
		takes time.Duration
		chats []int64
	}{
		{"as fast as possible", telegramsim.FloodOptions{Updates: 3}, 0, []int64{2_000_001}},
		{"two a second", telegramsim.FloodOptions{Updates: 5, PerSecond: 2}, 2 * time.Second, []int64{2_000_001}},
		{"one each ten seconds", telegramsim.FloodOptions{Updates: 3, PerSecond: 0.1}, 20 * time.Second, []int64{2_000_001}},
		{"in turns", telegramsim.FloodOptions{Updates: 5, Chats: 3, FirstChat: 7}, 0, []int64{7, 8, 9}},
		{"more chats than texts", telegramsim.FloodOptions{Updates: 2, Chats: 9, FirstChat: 7}, 0, []int64{7, 8}},
		{"no chats is one", telegramsim.FloodOptions{Updates: 2, Chats: -4, FirstChat: 7}, 0, []int64{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sim := newSim(t, telegramsim.Options{})
				start := time.Now()
				require.NoError(t, sim.StartFlood(c.opts))
				time.Sleep(c.takes)
				synctest.Wait()
				require.Equal(t, telegramsim.FloodStatus{Sent: c.opts.Updates, Updates: c.opts.Updates}, sim.Flood())
				var chats []int64
				for _, chat := range sim.Chats() {
					chats = append(chats, chat.ID)
				}
				require.Equal(t, c.chats, chats)
				list := sim.Messages(0)
				require.Len(t, list, c.opts.Updates)
				require.Equal(t, c.takes, list[len(list)-1].Time.Sub(start))
				for n, m := range list {
					require.Equal(t, fmt.Sprintf("flood %d", n+1), m.Text)
				}
			})
		})
	}
}

func TestFloodsThatMakeNoSenseDoNotStart(t *testing.T) {
	t.Parallel()
	sim := newSim(t, telegramsim.Options{})
	for _, opts := range []telegramsim.FloodOptions{
		{}, {Updates: -1}, {Updates: 1, PerSecond: -0.1}, {Updates: 1, FirstChat: -5},
	} {
		require.Error(t, sim.StartFlood(opts))
	}
	require.Equal(t, telegramsim.FloodStatus{}, sim.Flood())
}

func TestAFloodCanFollowOneThatWasStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, telegramsim.Options{})
		for n := range 3 {
			require.NoError(t, sim.StartFlood(telegramsim.FloodOptions{Updates: 100, PerSecond: 1, FirstChat: 10 + int64(n)}))
			time.Sleep(500 * time.Millisecond)
			sim.StopFlood()
			synctest.Wait()
			require.Equal(t, telegramsim.FloodStatus{Sent: 1, Updates: 100}, sim.Flood())
		}
		require.Len(t, sim.Chats(), 3)
	})
}

// TestTheRequestLogSeesWhatNeverReachedAMethod: a judge of bots must know of every
// request, most of all of the odd ones.
func TestTheRequestLogSeesWhatNeverReachedAMethod(t *testing.T) {
	t.Parallel()
	b := free(t)
	for path, status := range map[string]int{
		"/bot1:wrong/getMe":             401,
		"/bot/getMe":                    401,
		"/bot" + b.Token() + "/":        404,
		"/bot" + b.Token() + "/nothing": 404,
		"/bot" + b.Token() + "/a/b/c":   404,
		"/file/bot1:wrong/x":            401,
	} {
		before := len(b.Requests())
		resp, err := b.client.Get(b.url + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, status, resp.StatusCode, path)
		require.Eventually(t, func() bool {
			log := b.Requests()
			return len(log) == before+1 && log[before].Status == status
		}, soon, time.Millisecond, path)
	}
	before := len(b.Requests())
	for _, path := range []string{"/nothing", "/robot/", "/file/x", "/file", "/bot" + b.Token()} {
		resp, err := b.client.Get(b.url + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 404, resp.StatusCode, path)
	}
	require.Len(t, b.Requests(), before, "what is no Bot API path is no request")
}

func TestCountersTellMethodsLimitsAndViolationsApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sim := newSim(t, open(telegramsim.Options{}))
		for range 5 {
			text(t, sim, 1001)
			time.Sleep(100 * time.Millisecond)
		}
		direct(t, sim, "getMe", nil)
		var limited, violations int
		for _, r := range sim.Requests() {
			if r.Status == http.StatusTooManyRequests {
				limited++
				require.Positive(t, r.RetryAfter)
			}
			if r.Violation {
				violations++
			}
		}
		require.Equal(t, 2, limited)
		require.Equal(t, 1, violations)
		require.Equal(t, int64(1), sim.Violations())
	})
}

func TestUTF8IsAskedForLikeTheServerDoes(t *testing.T) {
	t.Parallel()
	b := free(t)
	b.SendText(1001, "/start")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/bot"+b.Token()+"/sendMessage",
		strings.NewReader("chat_id=1001&text=%ff"))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, raw, err := b.do(req)
	require.NoError(t, err)
	require.Equal(t, "Bad Request: strings must be encoded in UTF-8", decode(t, resp, raw).Description)
	require.Empty(t, b.Ledger(1001))
}

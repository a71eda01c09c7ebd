package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// A webhook keeps the guarantees that polling does. Only these tests catch a post
// that is answered before it is stored, or that only the process on duty can take.

const hookSecret = "the-secret-of-the-webhook"

// balancer stands before a bot's processes, as in production, and hands posts to
// them in turn.
type balancer struct {
	url  string
	shut atomic.Pointer[http.HandlerFunc] // answers instead of it, nil while it works
	next atomic.Int64

	mu        sync.Mutex
	bots      []*bot
	addresses map[*bot]string
}

// hooked is a world whose Telegram delivers by webhook.
func hooked(t *testing.T, change ...func(*telegramsim.Options)) (*world, *balancer) {
	t.Helper()
	change = append(change, func(o *telegramsim.Options) {
		o.PlainWebhooks, o.WebhookBackoff = true, 200*time.Millisecond
	})
	w := newWorld(t, change...)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := &balancer{url: "http://" + listener.Addr().String() + "/telegram/webhook", addresses: map[*bot]string{}}
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // ends with Close
	t.Cleanup(func() { _ = server.Close() })
	w.env = append(w.env, "DURABOT_WEBHOOK_SECRET="+hookSecret)
	return w, b
}

// ServeHTTP passes a post to the next process that is there.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if shut := b.shut.Load(); shut != nil {
		(*shut)(w, r)
		return
	}
	b.mu.Lock()
	bots := b.bots
	b.mu.Unlock()
	for range bots {
		next := bots[int(b.next.Add(1))%len(bots)]
		address := b.address(next)
		if address == "" || next.ended() {
			continue
		}
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
		proxy.ErrorLog = nil
		proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
		proxy.ServeHTTP(w, r)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// address is where a process listens, "" while that is not known. Its log, which
// grows long, is read only until then.
func (b *balancer) address(p *bot) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.addresses[p] == "" {
		b.addresses[p] = p.logged("listening", "address")
	}
	return b.addresses[p]
}

// start runs one more process behind the balancer.
func (b *balancer) start(w *world, flags ...string) *bot {
	return b.add(w.start(append([]string{"--intake", "webhook", "--webhook-url", b.url}, flags...)...))
}

func (b *balancer) add(p *bot) *bot {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bots = append(slices.Clip(b.bots), p)
	return p
}

// replace puts a process in the place of another one.
func (b *balancer) replace(old, p *bot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bots = append(slices.DeleteFunc(slices.Clone(b.bots), func(one *bot) bool { return one == old }), p)
}

// ended reports whether the process is gone.
func (b *bot) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// ask calls a method of the Bot API, as somebody else with the token would.
func (w *world) ask(call string) string {
	w.t.Helper()
	res, err := http.Get(w.api + "/bot" + w.token + "/" + call) //nolint:noctx // bounded by the server's life
	require.NoError(w.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(w.t, err)
	return string(body)
}

// hook is the webhook that is set, "" for none.
func (w *world) hook() string {
	w.t.Helper()
	return parse[struct {
		Result struct {
			URL string `json:"url"`
		} `json:"result"`
	}](w.t, w.ask("getWebhookInfo")).Result.URL
}

// registered waits until Telegram knows the webhook.
func (w *world) registered(url string) {
	w.t.Helper()
	w.eventually("the webhook is set", func() bool { return w.hook() == url })
}

// post delivers a body to the balancer as Telegram would, and returns the status.
func (b *balancer) post(t *testing.T, secret, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url, strings.NewReader(body))
	require.NoError(t, err)
	if secret != "" {
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	return res.StatusCode
}

func TestWebhookUpdatesOfAnyReceiverAreHandledOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	for range 3 {
		lb.start(w)
	}
	w.registered(lb.url)
	const chats, each = 10, 8
	for n := range each {
		for chat := range int64(chats) {
			w.SendText(1001+chat, fmt.Sprint(n))
		}
	}
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) == chats*each })
	for chat := range int64(chats) {
		for n, text := range w.texts(1001 + chat) {
			require.Equal(t, fmt.Sprintf("re: %d", n), text)
		}
	}
	w.confirmed()
	require.Len(t, w.runs(), chats*each)
	require.Empty(t, w.calls("getUpdates"))
	passed := 0
	for _, b := range lb.bots {
		_, text := b.get("/metrics")
		if strings.Contains(text, `answer="passed"} `) && !strings.Contains(text, `answer="passed"} 0`) {
			passed++
		}
	}
	require.Equal(t, 2, passed, "the two that are not on duty passed posts on")
}

func TestWebhookLosesAndDoublesNothingWhenTheHolderIsKilledOrStopped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"killed", "stopped"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, lb := hooked(t)
			holder := lb.start(w)
			w.registered(lb.url)
			lb.start(w).standBy()
			for n := range 30 {
				w.SendText(1001+int64(n%5), fmt.Sprint(n))
				if n == 10 {
					endings[name].leave(holder)
				}
			}
			w.eventually("all are answered", func() bool {
				for n := range 30 {
					texts := w.texts(1001 + int64(n%5))
					if len(texts) == 0 || !strings.Contains(strings.Join(texts, ",")+",", fmt.Sprintf("re: %d,", n)) {
						return false
					}
				}
				return true
			})
			w.confirmed()
			if endings[name].clean {
				require.Len(t, w.Ledger(0), 30)
			}
		})
	}
}

func TestWebhookDeliveredAgainIsAnsweredAndIgnored(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	for range 3 {
		lb.start(w)
	}
	w.registered(lb.url)
	id := w.SendText(1001, "slow 2s")
	for range 5 { // in parallel, as after a timeout
		w.eventually("it comes again", func() bool { return w.Redeliver(id) })
	}
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.eventually("all deliveries are answered", func() bool {
		n := 0
		for _, d := range w.Deliveries() {
			if d.UpdateID == id && d.Status == http.StatusOK {
				n++
			}
		}
		return n == 6
	})
	require.True(t, w.Redeliver(id), "and once more when it is long done")
	w.confirmed()
	require.Len(t, w.runs(), 1)
	require.Len(t, w.Ledger(1001), 1)
}

func TestWebhookPostsWithoutTheSecretLeaveNoTraceAndGarbageWithItIsADeadLetter(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	lb.start(w)
	w.registered(lb.url)
	update := `{"update_id":77,"message":{"message_id":1,"date":1,"chat":{"id":1001,"type":"private"},"text":"hello"}}`
	for _, secret := range []string{"", "wrong", hookSecret + "x"} {
		require.Equal(t, http.StatusForbidden, lb.post(t, secret, update))
	}
	_, err := w.temporal.DescribeWorkflow(t.Context(), contract.UpdateID(w.bot, 77), "")
	require.Error(t, err)
	for range 2 {
		require.Equal(t, http.StatusOK, lb.post(t, hookSecret, "no update at all"))
	}
	letters := w.dead(1)
	require.Equal(t, contract.ReasonUndecodable, letters[0].Reason)
}

func TestWebhookPostsThatCannotBeStoredComeAgain(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	wire := w.wire()
	lb.add(w.startVia(wire.addr, "--intake", "webhook", "--webhook-url", lb.url))
	w.registered(lb.url)
	wire.cut()
	id := w.SendText(1001, "hello")
	w.eventually("it was not taken", func() bool {
		for _, d := range w.Deliveries() {
			if d.UpdateID == id && d.Status == http.StatusServiceUnavailable {
				return true
			}
		}
		return false
	})
	wire.reopen()
	w.eventually("it is answered", func() bool { return len(w.Ledger(1001)) == 1 })
	w.confirmed()
	require.Len(t, w.runs(), 1)
}

func TestWebhookAndPollingFollowEachOtherAndLoseNothing(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	n := 0
	say := func(times int) {
		for range times {
			w.SendText(1001+int64(n%3), fmt.Sprint(n))
			n++
		}
	}
	poller := w.start().onDuty()
	say(10)
	receiver := lb.start(w) // as in a rolling deploy, the old process is still there
	say(10)
	endings["stopped"].leave(poller)
	w.registered(lb.url)
	say(10)
	next := w.start("--take-over")
	say(10)
	endings["stopped"].leave(receiver)
	next.onDuty()
	say(10)
	w.eventually("all are answered", func() bool { return len(w.Ledger(0)) >= n })
	w.confirmed()
	require.Len(t, w.Ledger(0), n)
	for chat := range int64(3) {
		for i, text := range w.texts(1001 + chat) {
			require.Equal(t, fmt.Sprintf("re: %d", 3*i+int(chat)), text)
		}
	}
}

func TestWebhookOfSomebodyElseIsNotRemoved(t *testing.T) {
	t.Parallel()
	w, lb := hooked(t)
	const foreign = "http://127.0.0.1:9/of-somebody-else"
	w.ask("setWebhook?url=" + url.QueryEscape(foreign))
	b := lb.start(w)
	w.eventually("it says so", func() bool {
		_, text := b.get("/readyz")
		return strings.Contains(text, "127.0.0.1:9") && strings.Contains(text, "--take-over")
	})
	require.Equal(t, foreign, w.hook())
	require.NotContains(t, func() string { _, text := b.get("/readyz"); return text }(), "of-somebody-else", "a path may be a secret")
	b.stop()
	lb.start(w, "--take-over")
	w.registered(lb.url)
}

package e2e_test

import (
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

	"github.com/durabot/durabot/internal/telegramsim"
)

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

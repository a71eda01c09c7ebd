package telegramsim_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// quick lets a test with sockets see retries soon.
var quick = telegramsim.Options{PlainWebhooks: true, NoPollRules: true, WebhookBackoff: 5 * time.Millisecond}

// serve is a receiver on a socket.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// until waits for something to become true.
func (b *bundle) until(happened func() bool) {
	b.t.Helper()
	require.Eventually(b.t, happened, soon, 2*time.Millisecond)
}

func (b *bundle) lastError() string { return webhookInfo(b.t, b.Sim).Error }

func TestUpdatesArriveOverHTTP(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		got <- r
		bodies <- string(raw)
		w.WriteHeader(http.StatusNoContent)
	})
	b := setup(t, quick)
	require.True(t, b.call("setWebhook", params{"url": server.URL + "/a/b?c=d", "secret_token": "s"}).OK)
	b.Push([]byte(`{"update_id":5000000000,"message":{"chat":{"id":1}}}`))
	r := <-got
	require.Equal(t, http.MethodPost, r.Method)
	require.Equal(t, "/a/b?c=d", r.URL.String())
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, []string{"s"}, r.Header["X-Telegram-Bot-Api-Secret-Token"])
	require.JSONEq(t, `{"update_id":5000000000,"message":{"chat":{"id":1}}}`, <-bodies)
	b.until(func() bool { return b.Pending() == 0 })
}

func TestNoSecretMeansNoHeader(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { got <- r.Header })
	b := setup(t, quick)
	require.True(t, b.call("setWebhook", params{"url": server.URL}).OK)
	b.SendText(1001, "x")
	require.NotContains(t, <-got, "X-Telegram-Bot-Api-Secret-Token")
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	followed := make(chan struct{}, 100)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/else" {
			followed <- struct{}{}
			return
		}
		http.Redirect(w, r, "/else", http.StatusTemporaryRedirect)
	})
	b := setup(t, quick)
	require.True(t, b.call("setWebhook", params{"url": server.URL + "/hook"}).OK)
	b.SendText(1001, "x")
	b.until(func() bool { return len(b.Deliveries()) > 2 })
	require.Equal(t, "Wrong response from the webhook: 307 Temporary Redirect", b.lastError())
	require.Empty(t, followed)
}

func TestTheCertificateOfAReceiverIsNotVerified(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	b := setup(t, quick)
	require.True(t, b.call("setWebhook", params{"url": server.URL}).OK)
	b.SendText(1001, "x")
	b.until(func() bool { return b.Pending() == 0 })
}

func TestAClosedPortIsARefusedConnectionUntilSomebodyListens(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	b := setup(t, quick)
	require.True(t, b.call("setWebhook", params{"url": "http://" + address + "/hook"}).OK)
	b.SendText(1001, "x")
	b.until(func() bool { return b.lastError() == "Connection refused" })
}

func TestABrokenConnectionIsAFailure(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"no answer": "", "half a body": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					_, _ = io.WriteString(conn, head)
					_ = conn.Close()
				}
			})
			b := setup(t, quick)
			require.True(t, b.call("setWebhook", params{"url": server.URL}).OK)
			b.SendText(1001, "x")
			b.until(func() bool { return b.lastError() != "" })
			require.Contains(t, []string{"Connection closed", "Connection reset by peer"}, b.lastError())
			require.Equal(t, 1, b.Pending())
		})
	}
}

// TestASlowReceiverIsCutOffAndServedAgain covers both halves of an answer: the head
// that is late, and the body that is.
func TestASlowReceiverIsCutOffAndServedAgain(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]bool{"no head": false, "no body": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut := make(chan struct{}, 1)
			first := make(chan struct{}, 1)
			first <- struct{}{}
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				select {
				case <-first:
				default:
					return
				}
				if head {
					w.Header().Set("Content-Length", "10")
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
				cut <- struct{}{}
			})
			impatient := quick
			impatient.WebhookTimeout = 200 * time.Millisecond
			b := setup(t, impatient)
			require.True(t, b.call("setWebhook", params{"url": server.URL}).OK)
			b.SendText(1001, "x")
			<-cut
			b.until(func() bool { return b.Pending() == 0 })
			require.Equal(t, "Read timeout expired", b.lastError())
			log := b.Deliveries() // more than two where the quick answer was late as well
			last := log[len(log)-1]
			require.Equal(t, 0, log[0].Status)
			require.Equal(t, 200, last.Status)
			require.True(t, last.Overlapped)
		})
	}
}

func TestManyUpdatesOverHTTPArriveOnceEach(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 3000)
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies <- string(raw)
	})
	b := setup(t, telegramsim.Options{PlainWebhooks: true, NoPollRules: true})
	require.True(t, b.call("setWebhook", params{"url": server.URL, "max_connections": 100}).OK)
	require.NoError(t, b.StartFlood(telegramsim.FloodOptions{Updates: 1000, Chats: 200}))
	require.Eventually(t, func() bool { return !b.Flood().Running && b.Pending() == 0 }, soon, 5*time.Millisecond)
	seen := map[string]bool{}
	for range len(bodies) {
		seen[<-bodies] = true
	}
	require.Len(t, seen, 1000)
	require.Len(t, b.Deliveries(), 1000)
}

package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

// A webhook keeps the guarantees that polling does. Only these tests catch a post
// that is answered before it is stored, or that only the process on duty can take.

const hookSecret = "the-secret-of-the-webhook"

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

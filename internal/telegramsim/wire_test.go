package telegramsim_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/telegramsim"
)

// The tests here need a real connection: they are about what the transport does.

func TestConnectionsAreKeptAlive(t *testing.T) {
	t.Parallel()
	b := free(t)
	reused := 0
	for range 5 {
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) {
				if info.Reused {
					reused++
				}
			},
		})
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/bot"+b.Token()+"/getMe", nil)
		require.NoError(t, err)
		_, _, err = b.do(req)
		require.NoError(t, err)
	}
	require.Equal(t, 4, reused)
}

func TestHungUpPollMakesRoomForItsSuccessor(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{NoPollRules: true})
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/bot"+b.Token()+"/getUpdates?timeout=50", nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, _, err := b.do(req)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(b.Requests()) == 1 }, soon, time.Millisecond)
	hangUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return b.Requests()[0].Hung }, soon, time.Millisecond)
	id := b.SendText(1001, "x")
	require.Equal(t, []int64{id}, updateIDs(t, b.call("getUpdates", nil)))
	for _, r := range b.Requests() {
		require.False(t, r.Overlapped)
	}
}

func TestCloseCutsRequestsThatHang(t *testing.T) {
	t.Parallel()
	for _, f := range []telegramsim.Fault{
		{Kind: telegramsim.FaultHang},
		{Kind: telegramsim.FaultHangAfter},
		{Kind: telegramsim.FaultDelay, Wait: time.Hour},
	} {
		t.Run(string(f.Kind), func(t *testing.T) {
			t.Parallel()
			b := free(t)
			b.Fault(f)
			ended := make(chan error, 1)
			go func() {
				_, _, err := b.post("getMe", nil)
				ended <- err
			}()
			require.Eventually(t, func() bool { return len(b.Requests()) == 1 }, soon, time.Millisecond)
			require.NoError(t, b.Close())
			require.Error(t, <-ended, "an empty 200 would look like an answer")
		})
	}
}

func TestMessageOfAClientThatLeftIsStillTaken(t *testing.T) {
	t.Parallel()
	b := setup(t, telegramsim.Options{Latency: time.Hour, Unknown: telegramsim.UnknownCreate})
	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+"/bot"+b.Token()+"/sendMessage?chat_id=1&text=x", nil)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, _, err := b.do(req)
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(b.Ledger(1)) == 1 }, soon, time.Millisecond)
	hangUp()
	require.Error(t, <-ended)
	require.Eventually(t, func() bool { return b.Requests()[0].Hung }, soon, time.Millisecond)
	require.Zero(t, b.Requests()[0].Status)
}

// TestParallelSendersGetDistinctIDs is the one for the race detector: everything
// happens at once, and the ledger still adds up.
func TestParallelSendersGetDistinctIDs(t *testing.T) {
	t.Parallel()
	b := free(t)
	const senders, each = 8, 50
	b.SendText(1001, "/start")
	b.SendText(-5, "/start")
	var crowd sync.WaitGroup
	for n := range senders {
		crowd.Go(func() {
			for i := range each {
				_, _, err := b.post("sendMessage", params{"chat_id": []int64{1001, -5}[i%2], "text": fmt.Sprint(n, i)})
				if err != nil {
					t.Error(err)
				}
			}
		})
		crowd.Go(func() {
			for range each {
				b.SendText(1001, "noise")
				b.Requests()
				b.Ledger(0)
				b.Penalise(7, time.Second)
			}
		})
	}
	crowd.Wait()
	seen := map[string]bool{}
	last := int64(0)
	for _, m := range b.Ledger(0) {
		key := fmt.Sprint(m.ChatID, "/", m.ID)
		require.False(t, seen[key], "message id given twice")
		seen[key] = true
		require.Greater(t, m.Seq, last)
		last = m.Seq
	}
	require.Len(t, seen, senders*each)
}

// TestACallCostsTheSameHoweverMuchWasSaid counts bytes, which unlike time do not
// depend on how busy the machine is. It runs alone, for they are counted of the
// whole process.
func TestACallCostsTheSameHoweverMuchWasSaid(t *testing.T) { //nolint:paralleltest // see above
	sim := newSim(t, telegramsim.Options{Limits: telegramsim.Limits{Off: true}, Unknown: telegramsim.UnknownCreate})
	say := func(n int) (each uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range n {
			require.True(t, direct(t, sim, "sendMessage", params{"chat_id": 1001, "text": "x"}).OK)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	first := say(200)
	say(3000)
	require.Less(t, say(200), first+first/2)
}

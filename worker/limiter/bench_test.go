package limiter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/worker/limiter"
)

// BenchmarkGrant asks what one Acquire and Done cost while others wait.
func BenchmarkGrant(b *testing.B) {
	for _, waiting := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			l := limiter.New(limiter.Config{})
			hold(b, l, waiting)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				grant(b, l, int64(1_000_000+i%1000))
			}
		})
	}
}

// BenchmarkGrantToNewChats asks what a chat never seen before costs, and what is
// remembered of a million of them.
func BenchmarkGrantToNewChats(b *testing.B) {
	cfg := limiter.Config{ChatPerSecond: 1000, ChatBurst: 3}
	l := limiter.New(cfg)
	for chat := range int64(1_000_000) {
		grant(b, l, chat+1)
	}
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		grant(b, l, 1_000_001+i)
	}
	b.ReportMetric(float64(l.Stats().Chats), "chats")
}

// BenchmarkChatRemembered asks how much of the live heap one chat takes while its
// window counts, and what a grant costs beside so many.
func BenchmarkChatRemembered(b *testing.B) {
	const chats = 100_000
	l := limiter.New(limiter.Config{ChatPerSecond: 1e-3, ChatBurst: 3})
	before := liveHeap()
	for chat := range int64(chats) {
		grant(b, l, chat+1)
	}
	perChat := float64(liveHeap()-before) / chats
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		grant(b, l, chats+1+i)
	}
	b.ReportMetric(perChat, "B/chat")
	require.GreaterOrEqual(b, l.Stats().Chats, chats)
}

// BenchmarkState asks what a hand-over of as many chats as fit into a minute of
// the bot's budget costs.
func BenchmarkState(b *testing.B) {
	l := limiter.New(limiter.Config{GroupPerMinute: 20})
	for chat := range int64(28 * 60) {
		grant(b, l, -chat-1)
	}
	var raw []byte
	for b.Loop() {
		var err error
		raw, err = json.Marshal(l.State())
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(raw)), "B/state")
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func grant(b *testing.B, l *limiter.Limiter, chat int64) {
	b.Helper()
	g, err := l.Acquire(b.Context(), message(chat))
	require.NoError(b, err)
	g.Done()
}

// hold keeps n calls waiting, each behind one in the air, until b ends.
func hold(b *testing.B, l *limiter.Limiter, n int) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	b.Cleanup(cancel)
	for chat := range int64(n) {
		_, err := l.Acquire(ctx, message(chat+1))
		require.NoError(b, err)
		go func() {
			for ctx.Err() == nil {
				_, _ = l.Acquire(ctx, message(chat+1)) // never granted
				<-time.After(time.Second)
			}
		}()
	}
	for l.Stats().Waiting[limiter.Normal] < n {
		runtime.Gosched()
	}
}

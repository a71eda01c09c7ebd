package limiter_test

import (
	"context"
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

package limiter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/worker/limiter"
)

// arrival is one step of a random schedule.
type arrival struct {
	after   time.Duration // the one before
	req     limiter.Request
	latency time.Duration
	tardy   time.Duration // comes back this late after being paced
	patient time.Duration // gives up after this; 0: never
	cancel  bool
	refused *time.Duration // 429 for so long
	scope   limiter.Scope
}

func millis(lo, hi int) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.IntRange(lo, hi), func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond })
}

func drawArrival(t *rapid.T) arrival {
	chat := rapid.SampledFrom([]int64{1, 1, 2, 3, 4, -1, -1, -2, 0}).Draw(t, "chat")
	a := arrival{
		after: rapid.OneOf(rapid.Just(time.Duration(0)), millis(0, 50), millis(0, 3000)).Draw(t, "after"),
		req: limiter.Request{
			Chat: chat, Method: "sendMessage", Counts: rapid.IntRange(0, 9).Draw(t, "counts") > 0,
			Items: rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 2, 3, 10}).Draw(t, "items"),
			Class: limiter.Class(rapid.IntRange(0, 2).Draw(t, "class")),
		},
		latency: rapid.OneOf(rapid.Just(time.Duration(0)), millis(1, 100), millis(0, 8000)).Draw(t, "latency"),
		tardy:   millis(0, 1900).Draw(t, "tardy"),
		cancel:  rapid.IntRange(0, 19).Draw(t, "cancel") == 0,
	}
	if rapid.IntRange(0, 9).Draw(t, "impatient") == 0 {
		a.patient = millis(1, 9000).Draw(t, "patient")
	}
	if chat == 0 {
		a.req.Method = "getFile"
		a.scope = rapid.SampledFrom([]limiter.Scope{{}, {Method: "getFile"}}).Draw(t, "scope")
	}
	if a.scope.Chat = chat; rapid.IntRange(0, 14).Draw(t, "refused") == 0 {
		wait := millis(1, 20000).Draw(t, "retry after")
		a.refused = &wait
	}
	return a
}

// live plays one caller.
func (w *world) live(a arrival) {
	ctx := w.t.Context()
	if a.patient > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.patient)
		defer cancel()
	}
	g, s := w.persist(ctx, a.req, a.tardy)
	switch {
	case g == nil:
		return
	case a.cancel:
		w.forget(s)
		g.Cancel()
		return
	}
	<-time.After(a.latency)
	if a.refused != nil {
		w.penalize(a.scope, *a.refused)
	}
	w.end(s)
	g.Done()
}

// play runs a schedule to its end and returns what was wrong.
func play(t *testing.T, cfg limiter.Config, arrivals []arrival) (wrong error) {
	t.Helper()
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for _, a := range arrivals {
			w.pass(a.after)
			w.pass(time.Nanosecond) // so that no two are of the same time
			a.req.Since = time.Now()
			w.callers.Go(func() { w.live(a) })
		}
		w.callers.Wait()
		w.pass(10 * time.Minute)
		wrong = errors.Join(w.windows(cfg), w.silence(), w.ordered(), w.empty())
		if cfg.GlobalPerSecond > 0 {
			wrong = errors.Join(wrong, w.pace(cfg.GlobalPerSecond))
		}
		if cfg.GroupPerMinute > 0 {
			wrong = errors.Join(wrong, w.smooth(time.Minute/time.Duration(cfg.GroupPerMinute)))
		}
	})
	return wrong
}

// empty checks that a limiter at rest holds nothing.
func (w *world) empty() error {
	stats := w.Stats()
	if stats.Chats > 0 || stats.InAir > 0 || stats.Waiting != [3]int{} {
		return fmt.Errorf("left over: %+v", stats)
	}
	for _, p := range stats.Penalties {
		if p.Scope.Chat != 0 {
			return fmt.Errorf("left over: %+v", p)
		}
	}
	return nil
}

func TestNoScheduleBreaksAPromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cfg := limiter.Config{
			GlobalPerSecond: rapid.SampledFrom([]float64{0, 1, 5, 28}).Draw(rt, "global"),
			ChatPerSecond:   rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(rt, "chat"),
			ChatBurst:       rapid.IntRange(1, 4).Draw(rt, "burst"),
			GroupPerMinute:  rapid.SampledFrom([]int{0, 5, 20, 30}).Draw(rt, "group"),
			InFlight:        rapid.SampledFrom([]int{0, 1, 3, 50}).Draw(rt, "in flight"),
		}
		least := rapid.SampledFrom([]int{1, 30, 100}).Draw(rt, "least") // short ones to shrink to, long ones to fill windows
		arrivals := rapid.SliceOfN(rapid.Custom(drawArrival), least, 150).Draw(rt, "arrivals")
		require.NoError(rt, play(t, cfg, arrivals))
	})
}

func TestNoClassStarves(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		chats := rapid.SliceOfN(rapid.IntRange(0, 30), 3, 3).Draw(rt, "chats per class")
		shared := rapid.Bool().Draw(rt, "all classes share the chats")
		if shared { // a chat without bulk owes bulk nothing
			chats[1], chats[2] = chats[0], chats[0]
		}
		var granted [3]uint64
		inWorld(t, botOnly(), func(t *testing.T, w *world) {
			granted = w.saturate(chats, shared)
		})
		all := granted[0] + granted[1] + granted[2]
		for class, share := range []uint64{0, 5, 20} {
			if chats[class] > 1 && share > 0 {
				require.GreaterOrEqual(rt, granted[class]+uint64(chats[class])+3, all/share, "class %d of %v", class, granted)
			}
		}
	})
}

// saturate keeps two calls waiting in every chat of each class for three minutes.
func (w *world) saturate(chats []int, shared bool) [3]uint64 {
	ctx, stop := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer stop()
	for class, n := range chats {
		for i := range 2 * n {
			req := message(int64(i/2 + 1))
			if req.Class = limiter.Class(class); !shared {
				req.Chat += int64(1000 * class)
			}
			w.callers.Go(func() {
				for ctx.Err() == nil {
					if g, _ := w.persist(ctx, req, 0); g != nil {
						g.Done()
					}
				}
			})
		}
	}
	w.callers.Wait()
	return w.Stats().Granted
}

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
	if w.ghost(s) {
		return
	}
	if a.refused != nil {
		<-time.After(w.instant()) // nothing else happens then
		w.penalize(a.scope, *a.refused)
	}
	w.end(s)
	g.Done()
}

// ghost reports whether nobody waits for the answer any more.
func (w *world) ghost(s *send) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.lost
}

// instant returns a little time that nobody else was given.
func (w *world) instant() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.instants++
	return time.Duration(w.instants)*time.Microsecond + 500
}

// do plays what is done to the limiter itself.
func (w *world) do(a arrival, cfg limiter.Config) {
	w.pass(w.instant())
	switch a.act {
	case holdBot:
		reason := fmt.Sprint(w.now())
		w.hold(reason)
		w.callers.Go(func() {
			<-time.After(a.latency)
			w.release(reason)
		})
	case moveGroup:
		w.move(-1)
	case changeDuty:
		w.handOver(cfg)
	case justSend:
	}
}

// play runs a schedule to its end and returns what was wrong.
func play(t *testing.T, cfg limiter.Config, arrivals []arrival) (wrong error) {
	t.Helper()
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for _, a := range arrivals {
			w.pass(a.after)
			w.pass(time.Nanosecond) // so that no two are of the same time
			if a.act != justSend {
				w.do(a, cfg)
			}
			a.req.Since = time.Now()
			w.callers.Go(func() { w.live(a) })
		}
		w.callers.Wait()
		w.pass(time.Hour)
		wrong = errors.Join(w.windows(cfg), w.silence(), w.heldBack(), w.ordered(), w.newest(), w.empty(), errors.Join(w.faults...))
		wrong = errors.Join(wrong, w.paces(cfg))
		if cfg.GroupPerMinute > 0 {
			wrong = errors.Join(wrong, w.smooth(time.Minute/time.Duration(cfg.GroupPerMinute)))
		}
		if wrong != nil {
			wrong = fmt.Errorf("%w\n%s", wrong, w.story())
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
	for range 10 { // rapid's own number of schedules misses what needs three things at once
		t.Run("schedules", func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) { noPromiseIsBroken(t, rt) })
		})
	}
}

func noPromiseIsBroken(t *testing.T, rt *rapid.T) {
	t.Helper()
	cfg := limiter.Config{
		GlobalPerSecond: rapid.SampledFrom([]float64{0, 1, 5, 28}).Draw(rt, "global"),
		PaidPerSecond:   rapid.SampledFrom([]float64{0, 2, 50}).Draw(rt, "paid"),
		ChatPerSecond:   rapid.SampledFrom([]float64{0, 0.5, 1, 3}).Draw(rt, "chat"),
		ChatBurst:       rapid.IntRange(1, 4).Draw(rt, "burst"),
		GroupPerMinute:  rapid.SampledFrom([]int{0, 5, 20, 30}).Draw(rt, "group"),
		InFlight:        rapid.SampledFrom([]int{0, 1, 3, 50}).Draw(rt, "in flight"),
	}
	least := rapid.SampledFrom([]int{1, 30, 100}).Draw(rt, "least") // short ones to shrink to, long ones to fill windows
	arrivals := rapid.SliceOfN(rapid.Custom(drawArrival), least, 150).Draw(rt, "arrivals")
	require.NoError(rt, play(t, cfg, arrivals))
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

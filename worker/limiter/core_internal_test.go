package limiter

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// These tests look inside because the three cores are plain values whose models
// are a few lines long; seen from outside a fault in them would only be late.

// model is a queue as a sorted slice.
type model []*call

func (m model) before(c *call) int {
	sum := 0
	for _, other := range m {
		if other.less(c) {
			sum += other.req.Items
		}
	}
	return sum
}

func (m model) first(match func(*call) bool) *call {
	if i := slices.IndexFunc(m, match); i >= 0 {
		return m[i]
	}
	return nil
}

func (m model) sorted() model {
	slices.SortFunc(m, func(a, b *call) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	return m
}

func TestQueueAgreesWithASortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var q queue
		var m model
		seq := uint64(0)
		rt.Repeat(map[string]func(*rapid.T){
			"insert": func(rt *rapid.T) {
				seq++
				c := &call{seq: seq, order: rapid.Int64Range(0, 9).Draw(rt, "order")}
				c.req.Items = rapid.IntRange(1, 10).Draw(rt, "items")
				c.settled = rapid.Bool().Draw(rt, "kept place")
				q.insert(c)
				m = append(m, c).sorted()
			},
			"remove": func(rt *rapid.T) {
				if len(m) == 0 {
					rt.Skip("empty")
				}
				i := rapid.IntRange(0, len(m)-1).Draw(rt, "index")
				q.remove(m[i])
				m = slices.Delete(m, i, i+1)
			},
			"": func(rt *rapid.T) { agree(rt, &q, m) },
		})
	})
}

func agree(rt *rapid.T, q *queue, m model) {
	var walked model
	q.root.walk(func(c *call) { walked = append(walked, c) })
	require.True(rt, slices.Equal(m, walked))
	if len(m) == 0 {
		require.Nil(rt, q.first())
		require.Zero(rt, q.items())
		return
	}
	require.Same(rt, m[0], q.first())
	last := m[len(m)-1]
	require.Equal(rt, m.before(last)+last.req.Items, q.items())
	for _, c := range m {
		require.Equal(rt, m.before(c), q.before(c))
	}
	kept := func(c *call) bool { return c.settled }
	require.Same(rt, m.first(kept), q.firstOf(kept))
	for order := range int64(10) {
		require.Same(rt, m.first(func(c *call) bool { return c.order == order && c.settled }), q.at(order, kept), "the first place of several")
	}
}

func TestQueueStaysShallow(t *testing.T) {
	t.Parallel()
	var q queue
	for i := range int64(10_000) {
		c := &call{order: i}
		c.req.Items = 1
		q.insert(c)
	}
	require.Less(t, depth(q.root), 60, "arrivals in order must not make a list")
}

func depth(c *call) int {
	if c == nil {
		return 0
	}
	return 1 + max(depth(c.left), depth(c.right))
}

func TestAlarmsRingInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var as alarms
		all := make([]alarm, 20)
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				a := &all[rapid.IntRange(0, 19).Draw(rt, "which")]
				as.set(a, nil, rapid.SampledFrom([]time.Duration{1, 2, 3, 4, 5, never}).Draw(rt, "at"))
			},
			"clear": func(rt *rapid.T) {
				as.clear(&all[rapid.IntRange(0, 19).Draw(rt, "which")])
			},
			"": func(rt *rapid.T) {
				first, pending := never, 0
				for i := range all {
					if all[i].place > 0 {
						require.Same(rt, &all[i], as[all[i].place-1])
						first = min(first, all[i].at)
						pending++
					}
				}
				require.Equal(rt, first, as.next())
				require.Len(rt, as, pending)
			},
		})
	})
}

func TestWindowFits(t *testing.T) {
	t.Parallel()
	w := window{limit: 3, length: 10}
	w.add(0, 1)
	w.add(5, 2)
	for _, tc := range []struct {
		name        string
		open, items int
		want        time.Duration
	}{
		{"full: when the first mark leaves", 0, 1, 10},
		{"two: when the second does", 0, 2, 15},
		{"more than the limit: when it is empty", 0, 9, 15},
		{"one in the air takes what leaves first", 1, 1, 15},
		{"all taken by the air", 3, 1, never},
		{"more than the limit beside one in the air", 1, 9, never},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, w.fits(6, tc.open, tc.items))
		})
	}
}

func TestWindowForgetsWhatHasLeft(t *testing.T) {
	t.Parallel()
	w := window{limit: 3, length: 10}
	w.add(0, 3)
	w.expire(9)
	require.Equal(t, 3, w.used)
	w.expire(10)
	require.Zero(t, w.used)
	require.Zero(t, w.empties(10))
	require.Equal(t, time.Duration(11), w.fits(11, 0, 3))
}

func TestWindowIsLongerAtALearnedShare(t *testing.T) {
	t.Parallel()
	w := window{limit: 3, length: 10, lesson: lesson{share: 0.5, since: time.Hour}}
	w.add(0, 3)
	w.expire(19)
	require.Equal(t, time.Duration(20), w.fits(19, 0, 1))
	require.Equal(t, time.Duration(20), w.empties(19))
	w.expire(20)
	require.Zero(t, w.used)
}

func TestWindowThatTakesOverAnotherStaysInOrder(t *testing.T) {
	t.Parallel()
	w, other := window{limit: 4, length: 10}, window{}
	w.add(1, 1)
	w.add(5, 2)
	other.add(0, 1)
	other.add(3, 1)
	w.absorb(&other)
	require.Equal(t, []mark{{0, 1}, {1, 1}, {3, 1}, {5, 2}}, w.marks)
	require.Equal(t, 5, w.used)
}

func TestForecastOfTheFirstIsWhenItMayGo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cfg := DefaultConfig()
		b := newBudget(rapid.SampledFrom([]*rule{cfg.privateRule(), cfg.groupRule(), nil}).Draw(rt, "rule"))
		now := time.Duration(0)
		for range rapid.IntRange(0, 30).Draw(rt, "calls") {
			items := rapid.SampledFrom([]int{1, 1, 2, 10, 40}).Draw(rt, "items")
			require.Equal(rt, max(now, b.opens(now, items)), b.forecast(now, 0, items))
			require.GreaterOrEqual(rt, b.forecast(now, 1, items), b.forecast(now, 0, items))
			now = max(now, b.opens(now, items))
			b.charge(now, items)
			if rapid.IntRange(0, 9).Draw(rt, "penalty") == 0 {
				b.drain(now)
			}
		}
		if b.rule != nil {
			now = b.rests(now)
			require.LessOrEqual(rt, b.opens(now, b.rule.burst), now, "a rested budget is whole")
		}
	})
}

func TestRatesRoundTowardsTheSlowerSide(t *testing.T) {
	t.Parallel()
	require.Equal(t, 35_714_286*time.Nanosecond, newBot(28, &air{}).step)
	cfg := Config{ChatPerSecond: 3, ChatBurst: 1, GroupPerMinute: 7}
	require.Equal(t, 333_333_334*time.Nanosecond, cfg.privateRule().window)
	require.Equal(t, 8_571_428_572*time.Nanosecond, cfg.groupRule().step)
	require.Equal(t, 3, Config{GroupPerMinute: 3}.groupRule().burst)
}

package limiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestFlowsAndTheirPacesAreForgotten(t *testing.T) {
	t.Parallel()
	var r ring
	p := paces{}
	for i := range 1000 {
		name := string(rune('a' + i))
		p.set(&call{req: Request{Flow: name, FlowPerSecond: 10}}, time.Duration(i)*time.Second)
		ln := &lane{}
		r.sit(ln, name, p[name])
		ln.stand()
	}
	require.LessOrEqual(t, len(p), mostPaces)
	require.Empty(t, r.byName)
	require.Zero(t, r.list.Len())
}

func TestFewMarksCountNoShorterThanAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := window{limit: 1000, length: time.Second}
		for i := range rapid.IntRange(0, 1000).Draw(t, "calls") {
			all.add(time.Duration(i)*time.Millisecond, rapid.IntRange(1, 3).Draw(t, "items"))
		}
		few := window{limit: all.limit, length: all.length, used: all.used, marks: coarse(all.marks)}
		require.LessOrEqual(t, len(few.marks), mostMarks)
		require.Equal(t, all.empties(0), few.empties(0))
		for now := time.Duration(0); now < 3*time.Second; now += 37 * time.Millisecond {
			all.expire(now)
			few.expire(now)
			require.GreaterOrEqual(t, few.used, all.used)
		}
		require.Zero(t, few.used)
	})
}

// BenchmarkWindow asks what a call costs beside so many that still count.
func BenchmarkWindow(b *testing.B) {
	w := window{limit: 1000, length: time.Second}
	b.ReportAllocs()
	for now := time.Duration(0); b.Loop(); now += time.Millisecond {
		w.expire(now)
		if w.fits(now, 0, 1) <= now {
			w.add(now, 1)
		}
	}
}

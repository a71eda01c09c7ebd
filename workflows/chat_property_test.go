package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/contract"
)

// drawSignals draws what may be signalled to a chat within its first minutes.
func drawSignals(t *rapid.T, r *room) []any {
	kind := rapid.IntRange(0, 4)
	// Each at a time of its own: of two marks of one moment either may win.
	moments := rapid.SliceOfNDistinct(rapid.IntRange(0, 30), 1, 8, rapid.ID[int]).Draw(t, "moments")
	var all []any
	for _, m := range moments {
		at := time.Duration(m) * time.Minute
		switch kind.Draw(t, "kind") {
		case 0:
			all = append(all, r.closed(at.String(), at))
		case 1:
			all = append(all, r.moved(int64(m), at))
		case 2:
			all = append(all, r.limited(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "method"), at+time.Minute))
		case 3:
			all = append(all, r.reopened(at))
		default:
			all = append(all, r.erased(at))
		}
	}
	return all
}

// Marks and clears come by several ways, so their order must not matter.
func TestWhatIsKnownOfAChatDoesNotDependOnTheOrderOfTheNews(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := newRoom(t), newRoom(t)
		news := drawSignals(t, one)
		one.signal(0, news...)
		other.signal(0, rapid.Permutation(news).Draw(t, "order")...)
		at, err := one.run()
		require.NoError(t, err)
		same, err := other.run()
		require.NoError(t, err)
		require.Equal(t, at, same)
		require.Equal(t, one.memos, other.memos)
		require.Equal(t, one.outcomes, other.outcomes)
	})
}

// A chat's workflow is open exactly as long as something is exceptional: it ends
// with the last of the marks that no clear means.
func TestAChatIsOpenExactlyAsLongAsAMarkIsInForce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newRoom(t)
		news := drawSignals(t, r)
		r.signal(0, news...)
		at, err := r.run()
		require.NoError(t, err)
		require.Equal(t, lastEnd(r, news), at)
		require.JSONEq(t, `{"chat_id":"42"}`, r.last())
	})
}

// lastEnd is the rule in its plainest form: every mark ends by itself, and those
// that a clear means are over.
func lastEnd(r *room, news []any) time.Duration {
	var closed, moved, end time.Time
	var reopened, erased time.Time
	for _, n := range news {
		switch n := n.(type) {
		case contract.ChatClear:
			reopened = later(reopened, n.Before)
			if n.All {
				erased = later(erased, n.Before)
			}
		case contract.ChatMark:
			if n.Closed != nil {
				closed = later(closed, n.Closed.Since)
			}
			if n.Moved != nil {
				moved = later(moved, n.Moved.Since)
			}
			for _, p := range n.Penalties {
				end = later(end, p.Until)
			}
		}
	}
	end = later(end, r.start)
	if !closed.IsZero() && !closed.Before(reopened) {
		end = later(end, closed.Add(90*day))
	}
	if !moved.IsZero() && !moved.Before(erased) {
		end = later(end, moved.Add(90*day))
	}
	return end.Sub(r.start)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

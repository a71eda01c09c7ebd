package broadcast_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"pgregory.net/rapid"

	"github.com/durabot/durabot/internal/broadcast"
	"github.com/durabot/durabot/internal/contract"
)

// play is a broadcast that goes on while it is looked at. Each recipient has an
// outcome of its own, so that a count tells whom it counts.
type play struct {
	*server
	r       *rand.Rand
	total   int
	acts    []*act
	counted []string // by the broadcast
}

// act is one of its parts.
type act struct {
	going, ended, heard bool

	left   []string
	scenes []*scene
	// ready are those of batches that have ended, until the memo shows them.
	ready, shown []string
}

// scene is a batch under way. Its heartbeat tells of the first so many.
type scene struct {
	chats []string
	done  int
}

func newPlay(t *rapid.T) *play {
	p := &play{server: newServer(), r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))} //nolint:gosec // a test
	p.broadcast(contract.BroadcastState{})
	for n := range rapid.IntRange(1, 5).Draw(t, "parts") {
		a := &act{}
		for range rapid.IntRange(1, 12).Draw(t, "recipients") {
			p.total++
			a.left = append(a.left, strconv.Itoa(p.total))
		}
		p.acts = append(p.acts, a)
		p.part(n+1, len(a.left))
	}
	p.show()
	return p
}

// step is one thing that happens.
func (p *play) step() {
	a := p.acts[p.r.IntN(len(p.acts))]
	switch what := p.r.IntN(6); {
	case !a.going:
		a.going = true
	case what == 0 && len(a.left) > 0:
		n := 1 + p.r.IntN(len(a.left))
		a.scenes, a.left = append(a.scenes, &scene{chats: a.left[:n]}), a.left[n:]
	case what <= 2 && len(a.scenes) > 0:
		p.reach(a.scenes[p.r.IntN(len(a.scenes))])
	case what == 3 && len(a.scenes) > 0:
		s := a.scenes[0]
		p.reach(s)
		a.scenes = a.scenes[1:]
		a.ready, a.left = append(a.ready, s.chats[:s.done]...), slices.Concat(a.left, s.chats[s.done:])
	case what == 4:
		a.shown, a.ready = slices.Concat(a.shown, a.ready), nil
		a.ended = len(a.left)+len(a.scenes) == 0
	case a.ended && !a.heard:
		a.heard = true
		p.counted = append(p.counted, a.shown...)
	}
	p.show()
}

// goOn has fewer things happen than so many.
func (p *play) goOn(most int) {
	for range p.r.IntN(most) {
		p.step()
	}
}

func (p *play) reach(s *scene) { s.done += p.r.IntN(len(s.chats) - s.done + 1) }

// show lets Temporal know.
func (p *play) show() {
	state := contract.BroadcastState{Phase: contract.BroadcastRunning, Total: p.total, Counts: tally(p.counted)}
	for i, a := range p.acts {
		if a.going && !a.heard {
			state.Running = append(state.Running, i+1)
		}
		r := p.at(i + 1)
		r.state, r.batches = contract.PartState{Counts: tally(a.shown)}, nil
		if a.ended {
			r.status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
		}
		for _, s := range a.scenes {
			l := contract.BatchLedger{Attempt: 1, Results: ownResults(s.chats[:s.done]), InFlight: s.chats[s.done:]}
			r.batches = append(r.batches, pending(contract.SendBatchActivity, l))
		}
	}
	p.runs[contract.BroadcastID(bot, name)].state = state
}

func ownResults(chats []string) []contract.RecipientResult {
	all := results(chats...)
	for i, r := range all {
		all[i].Outcome = contract.Outcome(r.Chat)
	}
	return all
}

func tally(chats []string) (c contract.Counts) {
	for _, r := range ownResults(chats) {
		c.Add(r)
	}
	return c
}

// known are those of whom Temporal knows the outcome: by memos, and by the batches
// that are under way.
func (p *play) known() (shown []string, written map[*scene][]string) {
	written = map[*scene][]string{}
	for _, a := range p.acts {
		shown = append(shown, a.shown...)
		for _, s := range a.scenes {
			written[s] = s.chats[:s.done]
		}
	}
	return shown, written
}

// had are all that have an outcome.
func (p *play) had() []string {
	all, written := p.known()
	for _, chats := range written {
		all = append(all, chats...)
	}
	for _, a := range p.acts {
		all = append(all, a.ready...)
	}
	return all
}

// during has things happen while look looks. Least are those whom it must count;
// who was written only is not, when the batch has ended since.
func (p *play) during(look func() error) (least, shown []string, err error) {
	shown, before := p.known()
	p.meanwhile = func() { p.goOn(4) }
	err = look()
	p.meanwhile = func() {}
	least = slices.Clone(shown)
	_, after := p.known()
	for s, chats := range before {
		if _, open := after[s]; open {
			least = append(least, chats...)
		}
	}
	return least, shown, err
}

// Whatever ends, writes and is told while somebody looks: nobody is counted twice,
// nobody without an outcome is, and nobody is lost whose outcome Temporal had.
func TestAStatusCountsNobodyTwiceAndLosesNobody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t)
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			p.goOn(5)
			var got broadcast.Status
			least, _, err := p.during(func() (err error) {
				got, err = broadcast.Look(t.Context(), p.server, bot, name)
				return err
			})
			require.NoError(t, err)
			had := p.had()
			for chat, n := range got.Counts.Outcomes {
				require.Equal(t, 1, n)
				require.Contains(t, had, chat)
			}
			for _, chat := range least {
				require.Contains(t, got.Counts.Outcomes, chat)
			}
			require.Equal(t, p.total, got.Pending+len(got.Counts.Outcomes))
		}
	})
}

// The same of what waits. Where the parts are many, their open batches are left out.
func TestWhatWaitsIsNobodyTwiceAndNobodyLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t)
		most := rapid.IntRange(0, 5).Draw(t, "most")
		for range rapid.IntRange(1, 20).Draw(t, "looks") {
			p.goOn(5)
			var got broadcast.Waiting
			least, shown, err := p.during(func() (err error) {
				got, err = broadcast.Wait(t.Context(), p.server, bot, most)
				return err
			})
			require.NoError(t, err)
			if most < len(p.acts) {
				least = shown
			}
			require.LessOrEqual(t, got.Recipients, int64(p.total-len(least)))
			require.GreaterOrEqual(t, got.Recipients, int64(p.total-len(p.had())))
		}
	})
}

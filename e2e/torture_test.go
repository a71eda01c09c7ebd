package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/devserver"
	"github.com/durabot/durabot/internal/telegramsim"
)

// G11: all guarantees at once, while processes are killed and frozen, Temporal is
// killed, frozen and cut off, and Telegram misbehaves. Only this test catches what
// goes wrong where two failures meet. `make torture` runs it for longer.

var (
	tortureSeeds = flag.Int("torture.seeds", 1, "how many tortures, each with the next seed")
	tortureSeed  = flag.Uint64("torture.seed", 0, "the first seed; 0 is one by the clock")
	tortureTime  = flag.Duration("torture.for", 20*time.Second, "how long each torments, before all is to end well")
)

// It runs before all others, for it takes the whole machine. All that happens
// depends on the seed; every third bot has a webhook.
func TestG11EveryGuaranteeHoldsUnderTorture(t *testing.T) { //nolint:paralleltest // see above
	first := *tortureSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano()) % 1_000_000
	}
	for seed := first; seed < first+uint64(*tortureSeeds); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			x := newTorture(t, seed)
			defer x.end()
			x.torment(*tortureTime)
			x.calm()
			x.judge()
		})
	}
}

// torture is a world with two bots and a Temporal of its own, people who write and
// press buttons, programs that send and edit, and a broadcast. What each of them
// did is read when all have ended.
type torture struct {
	*world
	seed   uint64
	ctx    context.Context //nolint:containedctx // of all who act
	quit   context.CancelFunc
	server *devserver.Server
	wire   *relay    // to Temporal
	road   *relay    // to Telegram
	gate   *balancer // from Telegram; nil where the bots poll
	bots   [2]*bot
	harms  []time.Time // of processes and roads

	asked    map[int64][]question // by chat, in order
	letters  []letterTo
	touched  []*board // by people's presses
	drawn    []*board // by programs' edits
	recalled bool     // the broadcast was cancelled
	ends     map[string]int

	mu    sync.Mutex
	moved int64 // what the group has become, 0 while it is one
}

func newTorture(t *testing.T, seed uint64) *torture {
	t.Helper()
	t.Logf("seed %d: go test ./e2e -run G11 -torture.seed=%d -torture.for=%s", seed, seed, *tortureTime)
	x := &torture{seed: seed, asked: map[int64][]question{}, ends: map[string]int{}}
	settings := func(o *telegramsim.Options) {
		o.Limits.PenaltyFactor = 1 // the first calls into a penalty on the bot are no fault of its own: nothing says that it is one
		o.WebhookTimeout = 5 * time.Second
	}
	if seed%3 == 0 {
		x.world, x.gate = hooked(t, telegramsLimits, settings)
	} else {
		x.world = newWorld(t, telegramsLimits, settings)
	}
	x.furnish()
	furnished := time.Now()
	x.server = x.ownServer()
	x.ctx, x.quit = context.WithCancel(t.Context())
	x.pass(furnished.Add(3 * time.Second)) // what the chats were given is none of the bot's calls, and not in its windows
	x.wire, x.road = x.relay(x.server.Addr()), x.world.road()
	for i := range x.bots {
		x.renew(i)
	}
	x.bots[0].ready()
	return x
}

// renew starts a process in the place of one that is gone.
func (x *torture) renew(i int) {
	if x.gate == nil {
		x.bots[i] = x.startVia(x.wire.addr)
		return
	}
	gone := x.bots[i]
	x.bots[i] = x.startVia(x.wire.addr, "--intake", "webhook", "--webhook-url", x.gate.url)
	x.gate.replace(gone, x.bots[i])
}

// end stops everything, so that the next torture has the machine for itself.
func (x *torture) end() {
	x.quit()
	for _, b := range x.bots {
		b.kill()
	}
	x.server.Stop()
}

// chance is a source of chance of its own for each who acts.
func (x *torture) chance(who uint64) *rand.Rand { return rand.New(rand.NewPCG(x.seed, who)) }

// torment lets everybody act until the time is over.
func (x *torture) torment(d time.Duration) {
	until := time.Now().Add(d)
	var all sync.WaitGroup
	defer all.Wait()
	well := false
	defer func() {
		if !well {
			x.quit()
		}
	}()
	acts := func() bool { return time.Now().Before(until) && x.ctx.Err() == nil }
	for who, act := range []func(*rand.Rand){x.write, x.press, x.send, x.draw, x.tend, x.misbehave} {
		r := x.chance(uint64(who))
		all.Go(func() {
			for acts() {
				act(r)
			}
		})
	}
	all.Go(func() { x.mail(x.chance(98)) })
	for r := x.chance(99); acts(); {
		x.hurt(r)
	}
	well = true
}

// calm ends all torments and waits until nothing is left to do.
func (x *torture) calm() {
	x.t.Helper()
	x.ClearFaults()
	for _, chat := range fickle {
		x.Unblock(chat)
	}
	x.broadcast("resume") // should durabot have paused it
	x.until("every update is confirmed", func() bool { return x.Pending() == 0 })
	x.until("every workflow has ended", func() bool {
		open, err := x.count("ExecutionStatus = 'Running' AND WorkflowType IN ('%s', '%s', '%s', '%s')",
			contract.UpdateWorkflow, contract.MessageWorkflow, contract.BroadcastWorkflow, contract.BroadcastPartWorkflow)
		return err == nil && open == 0
	})
	x.until("nobody has to tend to anything", x.tended)
}

// until waits longer than patience: a call that failed six times may wait for
// minutes.
func (x *torture) until(what string, ok func() bool) {
	x.t.Helper()
	require.Eventually(x.t, ok, 6*time.Minute, 500*time.Millisecond, "%s: seed %d", what, x.seed)
}

// again tries something until it succeeds, or everybody is called off.
func (x *torture) again(succeeds func() bool) {
	for x.ctx.Err() == nil && !succeeds() {
		time.Sleep(100 * time.Millisecond)
	}
}

// linger waits for a time between two of r's choices.
func linger(r *rand.Rand, least, most time.Duration) {
	timer := time.NewTimer(least + time.Duration(r.Int64N(int64(most-least))))
	<-timer.C
}

// note keeps what was done, for whoever reads why a torture failed.
func (x *torture) note(format string, args ...any) {
	x.t.Log(time.Now().Format(clock), fmt.Sprintf(format, args...))
}

// clock is how times are written.
const clock = "15:04:05.000"

package e2e_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"
)

// harm is done to process i, or to a way. What it returns mends it, nil where
// nothing has to be.
type harm struct {
	what  string
	lasts time.Duration // of those that last: a second to six, times this
	do    func(x *torture, i int) (mend func())
}

// alone are the harms that come one at a time, the first twice as often.
var alone = []harm{killed, killed, stopped, frozen, temporalKilled, temporalFrozen, noTemporal, noTelegram}

// together are harms that come at once, the second to the other process. Where
// both need one, nobody is left.
var together = [][2]harm{
	{temporalFrozen, killed}, {noTemporal, noTelegram}, {frozen, killed}, {killed, temporalKilled}, {temporalFrozen, noTelegram}, {killed, killed},
}

var (
	killed = harm{"kill bot", 0, func(x *torture, i int) func() {
		x.bots[i].kill()
		x.renew(i)
		return nil
	}}
	stopped = harm{"stop bot", 0, func(x *torture, i int) func() {
		code, _ := x.bots[i].stop()
		require.Zero(x.t, code, "a stop in the middle of it all")
		x.renew(i)
		return nil
	}}
	frozen = harm{"freeze bot", 4, func(x *torture, i int) func() { // longer than a lease
		x.bots[i].signal(syscall.SIGSTOP)
		return func() { x.bots[i].signal(syscall.SIGCONT) }
	}}
	temporalKilled = harm{"kill Temporal", 0, func(x *torture, _ int) func() {
		x.server.Kill()
		var err error
		x.server, err = x.server.Restart(x.t.Context())
		require.NoError(x.t, err)
		return nil
	}}
	temporalFrozen = harm{"freeze Temporal", 1, func(x *torture, _ int) func() {
		require.NoError(x.t, syscall.Kill(x.server.Pid(), syscall.SIGSTOP))
		return func() { require.NoError(x.t, syscall.Kill(x.server.Pid(), syscall.SIGCONT)) }
	}}
	noTemporal = harm{"no way to Temporal", 1, func(x *torture, _ int) func() {
		x.wire.cut()
		return x.wire.reopen
	}}
	noTelegram = harm{"no way to Telegram", 1, func(x *torture, _ int) func() {
		x.road.cut()
		return x.road.reopen
	}}
)

// noWayIn are those of a webhook: what stands before the processes says that they
// are away, or hangs up.
var noWayIn = []harm{
	{"no way from Telegram: 502", 1, func(x *torture, _ int) func() {
		return x.shut(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	}},
	{"no way from Telegram", 1, func(x *torture, _ int) func() {
		return x.shut(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}},
}

func (x *torture) shut(answer http.HandlerFunc) (open func()) {
	x.gate.shut.Store(&answer)
	return func() { x.gate.shut.Store(nil) }
}

// hurt does something to a process or to the way between two, now and then two
// things at once.
func (x *torture) hurt(r *rand.Rand) {
	i, all := r.IntN(len(x.bots)), alone
	if x.gate != nil {
		all = slices.Concat(alone, noWayIn)
	}
	harms := []harm{all[r.IntN(len(all))]}
	if r.IntN(5) == 0 {
		harms = together[r.IntN(len(together))][:]
	}
	length := time.Second + time.Duration(r.Int64N(int64(5*time.Second)))
	var mends []func()
	until := time.Now()
	for n, h := range harms {
		x.note("%s (%d) for %s", h.what, (i+n)%len(x.bots), length*h.lasts)
		x.harms = append(x.harms, time.Now())
		if mend := h.do(x, (i+n)%len(x.bots)); mend != nil {
			mends = append(mends, mend)
			until = time.Now().Add(length * h.lasts)
		}
	}
	x.pass(until)
	for _, mend := range mends {
		mend()
	}
	linger(r, time.Second, 4*time.Second)
}

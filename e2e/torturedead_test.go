package e2e_test

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// tend has somebody look after dead letters.
func (x *torture) tend(r *rand.Rand) {
	linger(r, 2*time.Second, 6*time.Second)
	if r.IntN(3) == 0 {
		x.discardFailed()
		return
	}
	x.replayRefused()
}

func (x *torture) replayRefused() {
	x.durabot("dead", "replay", "--died-of", string(contract.ReasonRejected), "--yes")
}

func (x *torture) discardFailed() {
	x.durabot("dead", "discard", "--died-of", string(contract.ReasonHandlerFailed), "--reason", "torture", "--yes")
}

// tended does what is left to do, and reports whether nothing is: what may have
// arrived stays.
func (x *torture) tended() bool {
	x.t.Helper()
	x.replayRefused()
	x.discardFailed()
	out, code := x.durabot("dead", "list", "-o", "json")
	return code == 0 && !slices.ContainsFunc(parse[[]letter](x.t, out), func(l letter) bool { return l.Reason != contract.ReasonUncertain })
}

// grave is where a dead letter stands.
func (x *torture) grave(id string) contract.DeadState {
	x.t.Helper()
	return parse[contract.DeadState](x.t, x.must("dead", "show", id, "-o", "json"))
}

// judgeReplay: what was refused was sent when somebody replayed it, and once.
func (x *torture) judgeReplay(m letterTo, copies int) {
	x.t.Helper()
	grave := x.grave("message/" + m.key)
	if grave.State == contract.DeadReplayed {
		x.is(copies == 1, "%s: replayed, and %d copies", m.key, copies)
		return
	}
	x.is(copies <= 1 && grave.Reason == contract.ReasonUncertain, "%s: %d copies, and its letter is %s: %s", m.key, copies, grave.State, grave.Reason)
}

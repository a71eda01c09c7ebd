package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// mail starts a broadcast, pauses it in the middle, resumes it, and sometimes
// cancels it in the end.
func (x *torture) mail(r *rand.Rand) {
	file := x.audience(firstOfMailing, mailed)
	x.broadcast("start", "--audience", file, "--text", "news", "--yes")
	linger(r, time.Second, 5*time.Second)
	x.note("pause the broadcast")
	x.broadcast("pause", "--reason", "torture")
	linger(r, 5*time.Second, 10*time.Second)
	x.note("resume the broadcast")
	x.broadcast("resume")
	if r.IntN(3) == 0 {
		linger(r, 500*time.Millisecond, 3*time.Second)
		x.note("cancel the broadcast")
		x.recalled = true
		x.broadcast("cancel", "--reason", "torture", "--yes")
	}
}

// broadcast gives an order until it is taken, or comes too late.
func (x *torture) broadcast(order string, flags ...string) {
	x.again(func() bool {
		_, code := x.durabot(append([]string{"broadcast", order, "news"}, flags...)...)
		return code == 0 || x.mailedToAll()
	})
}

// mailedToAll reports whether the broadcast is over.
func (x *torture) mailedToAll() bool {
	out, code := x.durabot("broadcast", "status", "news", "-o", "json")
	if code != 0 {
		return false
	}
	state := parse[mailing](x.t, out).State
	return state == "done" || state == "cancelled"
}

// judgeMailing: one outcome each, and no second copy.
func (x *torture) judgeMailing() {
	x.t.Helper()
	outcomes, sum := x.report("news"), x.mailing("news")
	x.is(len(outcomes) == mailed && sum.Total == mailed && sum.Pending == 0, "%d recipients are told of, of %d: %+v", len(outcomes), mailed, sum)
	x.is(sum.State == "done" || sum.State == "cancelled" && x.recalled, "the broadcast is %s", sum.State)
	for i := range int64(mailed) {
		chat := firstOfMailing + i
		copies, outcome := len(x.Ledger(chat)), outcomes[fmt.Sprint(chat)]
		x.ends["recipient "+outcome]++
		x.is(copies <= 1, "recipient %d has %d copies", chat, copies)
		switch outcome {
		case "delivered":
			x.is(copies == 1, "recipient %d: delivered, and nowhere", chat)
		case "not_sent":
			x.is(copies == 0 && sum.State == "cancelled", "recipient %d: not sent, with %d copies, by a broadcast that is %s", chat, copies, sum.State)
		default:
			x.is(outcome == "uncertain", "recipient %d: %s", chat, outcome)
		}
	}
	x.is(x.ends["recipient delivered"] == sum.Delivered && x.ends["recipient not_sent"] == sum.NotSent, "the sum is %+v", sum)
}

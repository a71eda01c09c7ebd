package e2e_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/telegramsim"
)

// judgeLimits: no window held more than Telegram takes, and no penalty was ignored.
func (x *torture) judgeLimits() {
	x.t.Helper()
	calls := x.to(0)
	for i, r := range calls {
		for _, known := range calls[:i] {
			if known.ChatID == r.ChatID && x.heard(known) && over(known).After(r.Arrived) {
				x.is(false, "%s to chat %d at %s, into a penalty of %d s of %s",
					r.Method, r.ChatID, r.Arrived.Format(clock), known.RetryAfter, known.Answered.Format(clock))
			}
		}
		x.is(!isRefused(r) || !x.silenced(calls[:i], r.Arrived), "%s to chat %d at %s, into a penalty on the bot", r.Method, r.ChatID, r.Arrived.Format(clock))
	}
	x.is(most(calls, time.Second) <= 30, "%d calls in a second", most(calls, time.Second))
	for _, chat := range x.privates() {
		n := most(x.to(chat), 3*time.Second)
		x.is(n <= 3, "%d calls to chat %d in 3 s, of %s", n, chat, times(x.to(chat)))
	}
	for _, group := range []int64{torturedGroup, x.moved} {
		n := most(x.to(group), time.Minute)
		x.is(group == 0 || n <= 20+10, "%d calls to group %d in a minute, the seconds before a kill included", n, group)
	}
}

// times tells when calls came and were answered, and how.
func times(calls []telegramsim.Request) (all string) {
	for _, r := range calls {
		all += fmt.Sprintf("\n%s–%s %d, fault %d", r.Arrived.Format(clock), r.Answered.Format(clock), r.Status, r.Fault)
	}
	return all
}

// privates are the chats to which most is sent.
func (x *torture) privates() (chats []int64) {
	for i := range int64(people) {
		chats = append(chats, firstPerson+i)
	}
	for i := range int64(boards) {
		chats = append(chats, firstTouched+i, firstDrawn+i)
	}
	return chats
}

// silenced reports whether the bot knew of a penalty on all of it when a call
// arrived. Nothing says that one is, but that three chats are refused within two
// seconds, and no call that came after them is answered otherwise. Earlier are the
// calls before it, by their arrival.
func (x *torture) silenced(earlier []telegramsim.Request, at time.Time) bool {
	var latest time.Time
	chats := map[int64]bool{}
	for _, r := range slices.Backward(earlier) {
		if !isRefused(r) && r.Answered.Before(at) {
			break
		}
		if !x.heard(r) || !r.Answered.Before(at.Add(-granted)) || !over(r).After(at) {
			continue
		}
		if latest.IsZero() {
			latest = r.Answered
		}
		if latest.Sub(r.Answered) < 2*time.Second {
			chats[r.ChatID] = true
		}
	}
	return len(chats) >= 3
}

// granted is how long a call may take from its grant to Telegram. The process
// that is too busy to send it is too busy to grant others.
const granted = 500 * time.Millisecond

// heard reports whether the bot is certain to know of a 429: it was not lost on
// its way, nor did it die with a process.
func (x *torture) heard(r telegramsim.Request) bool {
	return isRefused(r) && r.Fault == 0 && !slices.ContainsFunc(x.harms, func(at time.Time) bool {
		return r.Answered.After(at.Add(-time.Second)) && r.Answered.Before(at.Add(time.Second))
	})
}

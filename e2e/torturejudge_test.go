package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// judge compares what people and programs asked for with what Telegram saw. All
// that is wrong is told, and not only the first of it.
func (x *torture) judge() {
	x.t.Helper()
	for i := range int64(people) {
		x.judgePerson(firstPerson + i)
	}
	for i := range int64(rollers) {
		x.judgeRoller(firstRoller + i)
	}
	for _, m := range x.messages {
		x.judgeMessage(m)
	}
	x.judgeMailing()
	x.judgeLimits()
	x.oneVoice()
}

// is tells what is wrong, with the seed.
func (x *torture) is(ok bool, format string, args ...any) {
	x.t.Helper()
	assert.True(x.t, ok, "seed %d: %s", x.seed, fmt.Sprintf(format, args...))
}

// copies counts the messages of a chat by text, and lists each text at its first.
func (x *torture) copies(chat int64) (count map[string]int, order []string) {
	count = map[string]int{}
	for _, m := range x.Ledger(chat) {
		if count[m.Text]++; count[m.Text] == 1 {
			order = append(order, m.Text)
		}
	}
	return count, order
}

// fits compares a call's outcome with its copies.
func (x *torture) fits(what string, call contract.CallResult, copies int, once bool) {
	x.t.Helper()
	x.is(copies <= 1 || call.PossibleDuplicate, "%s: %d copies, and nobody says so: %+v", what, copies, call)
	x.is(copies <= 1 || !once, "%s: %d copies of what goes at most once", what, copies)
	switch call.Outcome {
	case contract.Delivered:
		x.is(copies >= 1, "%s: delivered, and nowhere", what)
	case contract.Dead:
		x.is(call.Reason == contract.ReasonUncertain && once, "%s: dead for no reason of ours: %+v", what, call)
	case contract.Unreachable:
		x.is(copies == 0 || call.PossibleDuplicate, "%s: unreachable, and there, and nobody says so", what)
	default:
		x.is(false, "%s: ended %s", what, call.Outcome)
	}
}

// judgePerson: each question has one answer, in its order.
func (x *torture) judgePerson(chat int64) {
	x.t.Helper()
	copies, order := x.copies(chat)
	place, last := map[string]int{}, -1
	for i, text := range order {
		place[text] = i
	}
	for _, q := range x.asked[chat] {
		what := fmt.Sprintf("chat %d, %q, update %d", chat, q.text, q.update)
		res, _ := x.update(q.update) // a dead one fails, and says so in its outcome
		if len(res.Calls) != 1 {
			x.is(slices.Contains(fickle, chat), "%s: %d calls", what, len(res.Calls))
			continue
		}
		call, reply := x.overtaken(res.Calls[0]), "re: "+q.text
		x.is(call.Outcome != contract.Unreachable || slices.Contains(fickle, chat), "%s: unreachable", what)
		x.fits(what, call, copies[reply], strings.HasPrefix(q.text, "once"))
		if at, there := place[reply]; there && !call.Overtaken {
			x.is(at > last, "%s: answered before an earlier one", what)
			last = max(last, at)
		}
	}
	x.is(len(order) <= len(x.asked[chat]), "chat %d got %d different texts for %d questions", chat, len(order), len(x.asked[chat]))
}

// overtaken follows a call that left its turn to the message that it became.
func (x *torture) overtaken(call contract.CallResult) contract.CallResult {
	x.t.Helper()
	if call.Outcome == contract.Pending && call.WorkflowID != "" {
		return x.outcomes(call.WorkflowID)[0]
	}
	return call
}

// judgeRoller: the handler decides by chance, and what it decided counts once.
func (x *torture) judgeRoller(chat int64) {
	x.t.Helper()
	_, order := x.copies(chat)
	x.is(len(order) == 3*len(x.asked[chat]), "chat %d: %d different messages for %d updates", chat, len(order), len(x.asked[chat]))
	for i := 0; i+2 < len(order); i += 3 {
		decided, _, _ := strings.Cut(strings.TrimPrefix(order[i], "re: "), " ")
		for n, word := range []string{"first", "second", "third"} {
			x.is(order[i+n] == "re: "+decided+" "+word, "chat %d: %q stands where %q should", chat, order[i+n], decided+" "+word)
		}
	}
}

// judgeMessage: it ended, in a way that Telegram's ledger bears out, and not early.
func (x *torture) judgeMessage(m letterTo) {
	x.t.Helper()
	res := x.outcomes(contract.MessageID(x.bot, m.key))[0]
	chats, copies := []int64{m.chat}, 0
	if m.chat == torturedGroup && x.moved != 0 {
		chats = append(chats, x.moved)
	}
	for _, chat := range chats {
		for _, sent := range x.Ledger(chat) {
			if sent.Text != m.text {
				continue
			}
			copies++
			x.is(!sent.Time.Before(m.call.At.Truncate(time.Millisecond)), "%s left %s early", m.key, m.call.At.Sub(sent.Time))
		}
	}
	if res.Reason == contract.ReasonRejected && m.chat == refusedChat {
		x.judgeReplay(m, copies)
		return
	}
	x.fits(m.key, res, copies, m.call.Delivery == contract.AtMostOnce)
}

// judgeReplay: what was refused was sent when somebody replayed it, and once.
func (x *torture) judgeReplay(m letterTo, copies int) {
	x.t.Helper()
	grave := parse[contract.DeadState](x.t, x.must("dead", "show", "message/"+m.key, "-o", "json"))
	if grave.State == contract.DeadReplayed {
		x.is(copies == 1, "%s: replayed, and %d copies", m.key, copies)
		return
	}
	x.is(copies <= 1 && grave.Reason == contract.ReasonUncertain, "%s: %d copies, and its letter is %s: %s", m.key, copies, grave.State, grave.Reason)
}

// judgeMailing: one outcome each, and no second copy.
func (x *torture) judgeMailing() {
	x.t.Helper()
	outcomes := x.report("news")
	x.is(len(outcomes) == mailed, "%d recipients are told of, of %d", len(outcomes), mailed)
	for i := range int64(mailed) {
		chat := firstOfMailing + i
		copies, outcome := len(x.Ledger(chat)), outcomes[fmt.Sprint(chat)]
		x.is(copies <= 1, "recipient %d has %d copies", chat, copies)
		x.is(outcome == "delivered" && copies == 1 || outcome == "uncertain", "recipient %d: %s with %d copies", chat, outcome, copies)
	}
}

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
	}
	refused := slices.DeleteFunc(slices.Clone(calls), func(r telegramsim.Request) bool { return !isRefused(r) })
	x.is(most(refused, time.Second) <= refusedMost, "%d calls refused in a second", most(refused, time.Second))
	x.is(most(calls, time.Second) <= 30, "%d calls in a second", most(calls, time.Second))
	for i := range int64(people) {
		n := most(x.to(firstPerson+i), 3*time.Second)
		x.is(n <= 3, "%d calls to chat %d in 3 s", n, firstPerson+i)
	}
	for _, group := range []int64{torturedGroup, x.moved} {
		n := most(x.to(group), time.Minute)
		x.is(group == 0 || n <= 20+10, "%d calls to group %d in a minute, the seconds before a kill included", n, group)
	}
}

// refusedMost is what a second may hold of calls into a penalty: three on the
// bot tell that it is on the bot, and others may be in the air by then.
const refusedMost = 6

// heard reports whether the bot is certain to know of a 429: it was not lost on
// its way, nor did it die with a process.
func (x *torture) heard(r telegramsim.Request) bool {
	return isRefused(r) && r.Fault == 0 && !slices.ContainsFunc(x.harms, func(at time.Time) bool {
		return r.Answered.After(at.Add(-time.Second)) && r.Answered.Before(at.Add(time.Second))
	})
}

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/durabot/durabot/internal/contract"
)

// question is what a person wrote, or the button pressed, and the update it became.
type question struct {
	text   string
	update int64
}

// words are what people begin with, which is what the handler does; see testbot.
var words = []string{"hello", "hello", "hello", "hello", "hello", "hello", "slow 300ms", "slow 300ms", "once", "once", "stumble", "fail", "panic"}

// hopeless reports whether the handler fails at every attempt.
func (q question) hopeless() bool {
	return strings.HasPrefix(q.text, "fail") || strings.HasPrefix(q.text, "panic")
}

// spent reports whether an update is dead because the handler's three attempts were
// lost, or those that it did not fail at: each went to a process that died with it,
// or was frozen and never heard of it.
func (q question) spent(res contract.UpdateResult) bool {
	return !q.hopeless() && res.Outcome == contract.Dead && res.Reason == contract.ReasonHandlerFailed
}

// write lets a person write.
func (x *torture) write(r *rand.Rand) {
	chat := firstPerson + r.Int64N(people)
	word := words[r.IntN(len(words))]
	if r.IntN(10) == 0 {
		chat, word = firstRoller+r.Int64N(rollers), "roll"
	}
	text := fmt.Sprintf("%s no %d", word, len(x.asked[chat]))
	if id := x.SendText(chat, text); id != 0 {
		x.asked[chat] = append(x.asked[chat], question{text: text, update: id})
	}
	linger(r, 50*time.Millisecond, 250*time.Millisecond)
}

// judgePerson: each question has one answer, in its order, unless the handler gave
// it up.
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
		if q.hopeless() || q.spent(res) {
			x.judgeHopeless(what, q, res)
			continue
		}
		if len(res.Calls) != 1 {
			x.is(slices.Contains(fickle, chat), "%s: ended %+v", what, res)
			continue
		}
		call, reply := x.overtaken(res.Calls[0]), "re: "+q.text
		x.tally("reply", call)
		x.is(call.Outcome != contract.Unreachable || slices.Contains(fickle, chat), "%s: unreachable", what)
		x.fits(what, call, copies[reply], strings.HasPrefix(q.text, "once"))
		if at, there := place[reply]; there && !call.Overtaken {
			x.is(at > last, "%s: answered before an earlier one", what)
			last = max(last, at)
		}
	}
	x.is(len(order) <= len(x.asked[chat]), "chat %d got %d different texts for %d questions", chat, len(order), len(x.asked[chat]))
}

// judgeHopeless: it is dead, and somebody has given its letter up.
func (x *torture) judgeHopeless(what string, q question, res contract.UpdateResult) {
	x.t.Helper()
	x.is(res.Outcome == contract.Dead && res.Reason == contract.ReasonHandlerFailed && len(res.Calls) == 0, "%s: ended %+v", what, res)
	const lost = "update lost its attempts"
	if q.hopeless() {
		x.ends["update "+string(res.Reason)]++
	} else {
		x.ends[lost]++
		x.is(x.ends[lost] <= 2, "%s: too many lost their attempts", what)
	}
	grave := x.grave(fmt.Sprintf("update/%d", q.update))
	x.is(grave.State == contract.DeadDiscarded && grave.Reason == contract.ReasonHandlerFailed, "%s: its letter is %s: %s", what, grave.State, grave.Reason)
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
	want := 0
	var ends []string
	for _, q := range x.asked[chat] {
		res, _ := x.update(q.update)
		if q.spent(res) {
			x.judgeHopeless(fmt.Sprintf("chat %d, %q, update %d", chat, q.text, q.update), q, res)
			continue
		}
		want += 3
		ends = append(ends, fmt.Sprintf("%d: %+v", q.update, res))
	}
	x.is(len(order) == want, "chat %d: %d different messages, want %d:\n%s", chat, len(order), want, strings.Join(ends, "\n"))
	for i := 0; i+2 < len(order); i += 3 {
		decided, _, _ := strings.Cut(strings.TrimPrefix(order[i], "re: "), " ")
		for n, word := range []string{"first", "second", "third"} {
			x.is(order[i+n] == "re: "+decided+" "+word, "chat %d: %q stands where %q should", chat, order[i+n], decided+" "+word)
		}
	}
}

// judgeRuns: three attempts in all, those included that died with their process.
func (x *torture) judgeRuns() {
	x.t.Helper()
	runs := map[int64]int{}
	for _, update := range x.runs() {
		runs[update]++
	}
	for update, n := range runs {
		x.is(n <= 3, "update %d was handled %d times", update, n)
	}
}

package e2e_test

import (
	"fmt"

	"github.com/stretchr/testify/assert"

	"github.com/durabot/durabot/internal/contract"
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
	x.judgeRuns()
	for _, m := range x.letters {
		x.judgeLetter(m)
	}
	x.judgeBoards()
	x.judgeMailing()
	x.judgeLimits()
	x.is(x.gate == nil || len(x.calls("getUpdates")) == 0, "a bot with a webhook polled")
	x.oneVoice()
	x.t.Logf("seed %d: %v", x.seed, x.ends) // whoever changes a torture sees what it reaches
}

// tally counts how something ended that was asked for.
func (x *torture) tally(what string, call contract.CallResult) {
	end := string(call.Outcome)
	if call.Reason != "" {
		end = string(call.Reason)
	}
	x.ends[what+" "+end]++
	for flag, set := range map[string]bool{"perhaps twice": call.PossibleDuplicate, "overtaken": call.Overtaken} {
		if set {
			x.ends[what+" "+flag]++
		}
	}
}

// is tells what is wrong, with the seed, and reports whether nothing is.
func (x *torture) is(ok bool, format string, args ...any) bool {
	x.t.Helper()
	return assert.True(x.t, ok, "seed %d: %s", x.seed, fmt.Sprintf(format, args...))
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

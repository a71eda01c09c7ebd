package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
)

// board is a message of the bot's, and what it was to say, in order: by the button
// under it, or by programs that edit it.
type board struct {
	chat, message int64
	presses       []question
	edits         []letterTo
}

// press lets a person press a button. The handler writes onto the board what it says.
func (x *torture) press(r *rand.Rand) {
	b := x.touched[r.IntN(len(x.touched))]
	for range 1 + r.IntN(3) {
		text := fmt.Sprintf("touch no %d", len(b.presses))
		b.presses = append(b.presses, question{text: text, update: x.PressButton(b.chat, b.message, text)})
	}
	linger(r, 500*time.Millisecond, 2*time.Second)
}

// draw has a program edit a board, faster than the chat takes it. The next edit
// is asked for when the one before it is under way, so that it is the newer one.
func (x *torture) draw(r *rand.Rand) {
	b := x.drawn[r.IntN(len(x.drawn))]
	for range 2 + r.IntN(5) {
		n := x.keys.Add(1)
		m := letterTo{key: fmt.Sprintf("key-%d", n), chat: b.chat, text: fmt.Sprintf("drawing %d", n)}
		m.call = edit(b.chat, b.message, m.text)
		x.accept(m)
		x.again(func() bool { return x.onItsWay(contract.MessageID(x.bot, m.key)) })
		b.edits = append(b.edits, m)
	}
	linger(r, time.Second, 4*time.Second)
}

// judgeBoards: the newest edit is what a board says.
func (x *torture) judgeBoards() {
	x.t.Helper()
	for _, b := range x.touched {
		x.judgePresses(b)
	}
	for _, b := range x.drawn {
		for i, m := range b.edits {
			x.judgeEdit(m.key, b, m.text, x.outcomes(contract.MessageID(x.bot, m.key))[0], i == len(b.edits)-1)
		}
	}
	answered := map[string]bool{}
	for _, r := range x.calls("answerCallbackQuery") {
		answered[r.Params["callback_query_id"]] = true
	}
	x.is(len(answered) >= x.ends["answer delivered"], "%d presses were answered, and Telegram saw %d", x.ends["answer delivered"], len(answered))
}

// judgePresses: each is answered. Who answers twice, as the first answer to that was
// lost, is told that it is too late.
func (x *torture) judgePresses(b *board) {
	x.t.Helper()
	for i, q := range b.presses {
		what := fmt.Sprintf("chat %d, %q, update %d", b.chat, q.text, q.update)
		res, _ := x.update(q.update)
		if !x.is(len(res.Calls) == 1 && res.Answer != nil, "%s: ended %+v", what, res) {
			continue
		}
		x.judgeEdit(what, b, q.text, x.overtaken(res.Calls[0]), i == len(b.presses)-1)
		x.tally("answer", *res.Answer)
		x.is(res.Answer.Outcome == contract.Delivered || res.Answer.Outcome == contract.Expired, "%s: the answer ended %+v", what, *res.Answer)
	}
}

// judgeEdit: it was made, or a newer one was. An edit that is made twice harms
// nobody, unless it is older than what the board says.
func (x *torture) judgeEdit(what string, b *board, text string, call contract.CallResult, last bool) {
	x.t.Helper()
	x.tally("edit", call)
	is := x.Ledger(b.chat)[0]
	made := slices.ContainsFunc(is.Edits, func(e telegramsim.Edit) bool { return e.Text == text })
	switch call.Outcome {
	case contract.Delivered:
		x.is(made, "%s: delivered, and the board never said it", what)
	case contract.Superseded:
		x.is(!last, "%s: superseded, and nothing is newer", what)
	default:
		x.is(false, "%s: ended %+v", what, call)
	}
	x.is(!last || is.Text == text || x.forgotten(b, is.Edits, text), "%s is the newest, and the board says %q", what, is.Text)
}

// forgotten reports whether the process that had made a program's newest edit was
// harmed before a heartbeat could tell its successor, which then tried an older one
// once more: messages have an order of their own only where one goes after another.
// The edits of presses have one, and are never forgotten.
func (x *torture) forgotten(b *board, made []telegramsim.Edit, newest string) bool {
	i := slices.IndexFunc(made, func(e telegramsim.Edit) bool { return e.Text == newest })
	return i >= 0 && i+1 < len(made) && len(b.edits) > 0 && slices.ContainsFunc(x.harms, func(at time.Time) bool {
		return at.After(made[i].Time.Add(-time.Second)) && at.Before(made[i].Time.Add(12*time.Second)) && at.Before(made[i+1].Time)
	})
}

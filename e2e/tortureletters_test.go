package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegramsim"
	"github.com/durabot/durabot/starter"
)

// letterTo is a message that was asked for under its key, until it was accepted.
type letterTo struct {
	key, text string
	chat      int64
	call      contract.Call
	after     *letterTo // goes first, nil for none
	delivered bool      // and must arrive, or this one is not sent
	withdrawn bool      // somebody tried to take it back
}

// send has a program send a message, and now and then the same once more.
func (x *torture) send(r *rand.Rand) {
	m := x.compose(r)
	for n := range 1 + r.IntN(2) {
		known := x.accept(m)
		x.is(n == 0 || known || x.ctx.Err() != nil, "%s was accepted twice", m.key)
	}
	if r.IntN(8) == 0 {
		linger(r, time.Millisecond, time.Second)
		m.withdrawn = true
		x.withdraw(m)
	}
	x.letters = append(x.letters, m)
	linger(r, 100*time.Millisecond, 500*time.Millisecond)
}

// compose makes a message up.
func (x *torture) compose(r *rand.Rand) letterTo {
	n := x.keys.Add(1)
	m := letterTo{key: fmt.Sprintf("key-%d", n), text: fmt.Sprintf("message %d", n), chat: firstAddressee + r.Int64N(addressees)}
	switch r.IntN(8) {
	case 0:
		m.chat = torturedGroup
	case 1:
		m.chat = refusedChat
		x.Fault(rejected)
	}
	m.call = text(m.chat, m.text)
	m.call.Priority = []contract.Priority{contract.Urgent, contract.Normal, contract.Bulk}[r.IntN(3)]
	m.call.Delivery = []contract.Delivery{contract.AtLeastOnce, contract.AtMostOnce}[r.IntN(2)]
	if m.chat == refusedChat {
		m.call.Delivery = contract.AtMostOnce
	}
	if r.IntN(4) == 0 {
		m.call.At = time.Now().Add(time.Duration(1+r.IntN(4)) * time.Second).UTC()
	}
	if r.IntN(3) == 0 && len(x.letters) > 0 {
		before := x.letters[max(0, len(x.letters)-1-r.IntN(4))]
		m.after, m.delivered = &before, r.IntN(2) == 0
	}
	return m
}

// rejected is a 400 that the message itself is to blame for.
var rejected = telegramsim.Fault{
	Method: "sendMessage", ChatID: refusedChat, Times: 1, Kind: telegramsim.FaultStatus, Status: http.StatusBadRequest,
	Body: `{"ok":false,"error_code":400,"description":"Bad Request: BUTTON_DATA_INVALID"}`,
}

// accept asks for a message until Temporal has it, and reports whether it was known.
func (x *torture) accept(m letterTo) (known bool) {
	msg := starter.Message{Key: m.key, Call: m.call, AfterDelivered: m.delivered}
	if m.after != nil {
		msg.After = m.after.key
	}
	x.again(func() bool {
		accepted, err := starter.NewMessages(x.temporal, x.bot, true).Send(x.t.Context(), msg)
		known = accepted.Duplicate
		if errors.Is(err, starter.ErrNoMessage) || errors.Is(err, starter.ErrOtherContent) {
			return x.is(false, "%s: %v", m.key, err)
		}
		return err == nil
	})
	return known
}

// withdraw takes a message back if it is not too late.
func (x *torture) withdraw(m letterTo) {
	x.again(func() bool {
		err := x.temporal.CancelWorkflow(x.t.Context(), contract.MessageID(x.bot, m.key), "")
		_, ended := errors.AsType[*serviceerror.NotFound](err)
		return err == nil || ended
	})
}

// sent are the copies of a message, in order.
func (x *torture) sent(m letterTo) (copies []telegramsim.Message) {
	chats := []int64{m.chat}
	if m.chat == torturedGroup && x.moved != 0 {
		chats = append(chats, x.moved)
	}
	for _, chat := range chats {
		for _, sent := range x.Ledger(chat) {
			if sent.Text == m.text {
				copies = append(copies, sent)
			}
		}
	}
	return copies
}

// judgeLetter: it ended, in a way that Telegram's ledger bears out, and not early.
func (x *torture) judgeLetter(m letterTo) {
	x.t.Helper()
	res, copies := x.outcomes(contract.MessageID(x.bot, m.key))[0], x.sent(m)
	for _, sent := range copies {
		x.is(!sent.Time.Before(m.call.At.Truncate(time.Millisecond)), "%s left %s early", m.key, m.call.At.Sub(sent.Time))
	}
	x.tally("message", res)
	stopped := x.judgeAfter(m, res, copies)
	switch {
	case res.Reason == contract.ReasonRejected && m.chat == refusedChat:
		x.judgeReplay(m, len(copies))
	case res.Outcome == contract.Cancelled:
		x.is(m.withdrawn || stopped, "%s: cancelled, and nobody wanted that", m.key)
		x.is(len(copies) == 0 || res.PossibleDuplicate, "%s: cancelled, and there, and nobody says so", m.key)
	default:
		x.fits(m.key, res, len(copies), m.call.Delivery == contract.AtMostOnce)
	}
}

// judgeAfter: it left when the one before it had ended. It reports whether that
// was to stop it. What was refused ended by that; its replay does not count.
func (x *torture) judgeAfter(m letterTo, res contract.CallResult, copies []telegramsim.Message) (stopped bool) {
	x.t.Helper()
	if m.after == nil {
		return false
	}
	before := x.outcomes(contract.MessageID(x.bot, m.after.key))[0]
	stopped = m.delivered && before.Outcome != contract.Delivered
	x.is(!stopped || res.Outcome == contract.Cancelled, "%s: %s, though %s ended %s", m.key, res.Outcome, m.after.key, before.Outcome)
	if before.Reason == contract.ReasonRejected || len(copies) == 0 {
		return stopped
	}
	for _, earlier := range x.sent(*m.after) {
		x.is(earlier.Time.Before(copies[0].Time), "%s left before %s", m.key, m.after.key)
	}
	return stopped
}

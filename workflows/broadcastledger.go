package workflows

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// unjudged is why a broadcast pauses after a batch that ended for a reason of its
// own and said nothing of its recipients.
const unjudged = "a batch failed without a word about its recipients, who count as uncertain: " +
	"read its error in the part's workflow before you resume"

// noAnswer is the error of a recipient to whom a request may have left.
const noAnswer = "the process that sent to it ended before the answer was recorded"

// findings are what is known of a batch that has ended.
type findings struct {
	results []contract.RecipientResult
	left    []contract.Addressee
	// unsure tells for whom nobody knows whether a request has left.
	unsure func(chat string) bool
	// known is set unless nothing can be said at all.
	known bool
	// batch is its name, "" where it is not known.
	batch string
}

// returned are the findings of a batch that returned. Of one that it forgot
// nothing is known.
func returned(res contract.BatchResult) findings {
	f := findings{results: res.Results, left: res.Left}
	f.unsure = func(chat string) bool { return find(res.Left, chat) == nil }
	return f
}

// judged are the findings of a batch that failed. It marks whom it sends to before
// it does, so one that left no ledger has sent nothing, if it was not itself that
// ended it.
func judged(err error) findings {
	ledger, known := ledgerOf(err)
	f := findings{results: ledger.Results, left: ledger.Left, known: known, batch: ledger.Batch}
	f.unsure = func(chat string) bool { return !known || slices.Contains(ledger.InFlight, chat) }
	return f
}

// ledgerOf finds the ledger of a batch that failed. A batch is tried once, so one
// that was cancelled in its queue has never begun; its details are the server's.
func ledgerOf(err error) (l contract.BatchLedger, known bool) {
	var timeout *temporal.TimeoutError
	var cancelled *temporal.CanceledError
	var app *temporal.ApplicationError
	bad := errors.New("no details")
	switch {
	case errors.As(err, &timeout):
		if !timeout.HasLastHeartbeatDetails() {
			return l, true
		}
		bad = timeout.LastHeartbeatDetails(&l)
	case errors.As(err, &cancelled):
		if !running(err) {
			return l, true
		}
		bad = cancelled.Details(&l)
	case errors.As(err, &app):
		bad = app.Details(&l)
	}
	if bad != nil || l.Attempt == 0 { // details of another kind have no attempt
		return contract.BatchLedger{}, false
	}
	return l, true
}

// settle gives each recipient of a batch a result or leaves it.
func (p *part) settle(now time.Time, batch []contract.Addressee, f findings) {
	for _, a := range batch {
		if i := slices.IndexFunc(f.results, func(r contract.RecipientResult) bool { return r.Chat == a.Chat }); i >= 0 {
			p.add(f.results[i])
			continue
		}
		if known := find(f.left, a.Chat); known != nil {
			a.NotBefore, a.Ledger, a.DoubtOf = known.NotBefore, known.Ledger, known.DoubtOf
		}
		switch {
		case !f.unsure(a.Chat):
			p.left = append(p.left, a)
		case p.in.What.Call.Delivery == contract.AtMostOnce && !f.known:
			p.add(uncertain(a, now))
		default:
			p.left = append(p.left, doubted(a, p.in.What.Call.Delivery, f.batch))
		}
	}
}

func find(all []contract.Addressee, chat string) *contract.Addressee {
	i := slices.IndexFunc(all, func(a contract.Addressee) bool { return a.Chat == chat })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// doubted is a recipient who may have got it of a batch. Another batch decides: the
// process of the first may know, and what may not be sent twice is sent by no other.
func doubted(a contract.Addressee, d contract.Delivery, batch string) contract.Addressee {
	var l contract.Ledger
	if a.Ledger != nil {
		l = *a.Ledger
	}
	once := d == contract.AtMostOnce
	l.PossibleDuplicate, l.InFlight = l.PossibleDuplicate || !once, once
	a.Ledger, a.DoubtOf = &l, batch
	return a
}

// uncertain is the result of a recipient who may have got it and is not sent to
// again.
func uncertain(a contract.Addressee, now time.Time) contract.RecipientResult {
	r := contract.RecipientResult{Chat: a.Chat, Outcome: contract.Dead, Reason: contract.ReasonUncertain, Error: noAnswer, At: now}
	if l := a.Ledger; l != nil {
		r.Degraded = l.Degraded
		if l.MovedTo != 0 {
			r.MovedTo = strconv.FormatInt(l.MovedTo, 10)
		}
	}
	return r
}

// giveUp ends what is left of a part that is cancelled.
func (p *part) giveUp(now time.Time) {
	for _, a := range p.left {
		l := a.Ledger
		switch {
		case l == nil:
			p.add(contract.RecipientResult{Chat: a.Chat, Outcome: contract.NotSent, At: now})
		case l.PossibleDuplicate || l.InFlight:
			p.add(uncertain(a, now))
		default:
			p.add(contract.RecipientResult{Chat: a.Chat, Outcome: contract.NotSent, Error: l.Error, At: now})
		}
	}
	p.left = nil
}

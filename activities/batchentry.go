package activities

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
)

// entry is one recipient of a batch, and the notes of its tries.
type entry struct {
	batch *batch
	contract.Recipient
	notBefore time.Time
	doubtOf   string // the batch that left it in doubt, until it has been tried
	marked    bool   // that a request may be under way has been made durable

	mu     sync.Mutex
	ledger contract.Ledger

	// Of the last try.
	try      *try
	launched time.Time
	// stayed is why it did not follow its chat to a new id.
	stayed error
	// known is how the recipient ended, if that is final.
	known contract.RecipientResult
	final bool
}

func (e *entry) entries() contract.Ledger {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ledger
}

func (e *entry) remember(note func(*contract.Ledger)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	note(&e.ledger)
}

// write leaves it to the batch to make that durable: what is lost costs another
// request like the one that told it, and is told again.
func (e *entry) write(_ context.Context, change func(*contract.Ledger)) error {
	e.remember(change)
	return nil
}

// depart marks the recipient. A method that can be repeated needs no mark.
func (e *entry) depart(ctx context.Context) error {
	if e.marked || e.try.method.Repeatable {
		return nil
	}
	return e.batch.mark(ctx, []*entry{e})
}

// addressee is what another batch has to know.
func (e *entry) addressee() contract.Addressee {
	a := contract.Addressee{Recipient: e.Recipient, NotBefore: e.notBefore, DoubtOf: e.doubtOf}
	l := e.entries()
	if l.Attempt = 0; l != (contract.Ledger{}) {
		a.Ledger = &l
	}
	return a
}

// mark makes durable that requests to these may be under way.
func (b *batch) mark(ctx context.Context, all []*entry) error {
	err := b.write(ctx, func(l *contract.BatchLedger) {
		for _, e := range all {
			l.InFlight = append(l.InFlight, e.Chat)
		}
	})
	for _, e := range all {
		e.marked = err == nil
	}
	return err
}

// start tries one recipient.
func (b *batch) start(ctx context.Context, e *entry) {
	b.open = slices.DeleteFunc(b.open, func(other *entry) bool { return other == e })
	b.inAir++
	e.launched, e.stayed, e.notBefore = time.Now(), nil, time.Time{}
	go func() {
		b.reach(ctx, e)
		b.ended <- e
	}()
}

// reach makes one try, unless the recipient is in doubt and this process knows
// better.
func (b *batch) reach(ctx context.Context, e *entry) {
	if before := b.answers.reached.find(ctx, e.doubtOf, e.Chat); before != nil {
		if e.known, e.final = before.known, before.final; e.final {
			return
		}
		e.remember(func(l *contract.Ledger) { *l = before.entries() })
	}
	if ctx.Err() != nil {
		return
	}
	e.doubtOf = ""
	e.known, e.final = e.outcome(b.make(ctx, e))
}

// make makes one try of the call. A call that cannot be made up is refused like
// one that Telegram refuses.
func (b *batch) make(ctx context.Context, e *entry) (contract.CallResult, error) {
	call, err := b.fill.call(e.Recipient)
	if err != nil {
		return contract.CallResult{}, temporal.NewNonRetryableApplicationError(err.Error(), contract.FailureRejected, nil)
	}
	e.try, err = b.newTry(b.info, contract.SendInput{Call: call, Deadline: b.in.Deadline}, e)
	if err != nil {
		return contract.CallResult{}, err
	}
	e.try.flow, e.try.flowRate = b.in.Broadcast, b.in.What.Rate
	e.try.stays = func(to int64) error {
		e.stayed = b.flow.apart(ctx, to, b.groupsOf)
		return e.stayed
	}
	res, err := e.try.run(ctx)
	if e.stayed == nil {
		e.try.report(err)
	}
	return res, err
}

// settle takes in how a try ended.
func (b *batch) settle(ctx context.Context, e *entry) {
	b.inAir--
	b.adapt(e)
	b.remember(func(l *contract.BatchLedger) {
		l.InFlight = slices.DeleteFunc(slices.Clone(l.InFlight), func(chat string) bool { return chat == e.Chat })
		l.Left = slices.DeleteFunc(slices.Clone(l.Left), func(a contract.Addressee) bool { return a.Chat == e.Chat })
		if e.final {
			l.Results = append(l.Results, e.known)
		} else {
			l.Left = append(l.Left, e.addressee())
		}
	})
	e.marked = false
	switch {
	case e.final:
		b.flow.hear(e.known)
	case time.Until(e.notBefore) > heldMost:
		b.left = append(b.left, e)
	default:
		b.open = append(b.open, e)
	}
	if b.width == narrowest { // nobody else is about to be marked
		_ = b.write(ctx, func(*contract.BatchLedger) {}) // without it a crash flags one more
	}
}

// adapt lets more be tried at once while the budget is at hand, and fewer while it
// is not.
func (b *batch) adapt(e *entry) {
	if e.try == nil || e.try.granted.Before(e.launched) {
		return
	}
	if e.try.granted.Sub(e.launched) < quick {
		b.width = min(widest, b.width+1)
	} else {
		b.width = max(narrowest, b.width-1)
	}
}

// outcome is how the recipient ended with a try. One that has no outcome yet has
// been told when to be tried again.
func (e *entry) outcome(made contract.CallResult, err error) (contract.RecipientResult, bool) {
	end, final := ended(err)
	known := e.entries()
	res := contract.RecipientResult{
		Chat: e.Chat, Outcome: end.Outcome, Reason: end.Reason, At: time.Now().Truncate(time.Millisecond).UTC(),
		MessageID: made.MessageID, MovedTo: made.MovedTo, Degraded: known.Degraded, Error: known.Error,
		PossibleDuplicate: known.PossibleDuplicate || e.Doubtful,
	}
	app, failed := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case errors.Is(e.stayed, errTwin):
		res.Outcome, res.Reason, res.Error = contract.Superseded, "", e.stayed.Error()
		return res, true
	case e.stayed != nil:
		e.notBefore = time.Now().Add(backoffLeast)
		return res, false
	case final && err == nil:
		res.Error = ""
	case final && res.Error == "":
		res.Error = app.Message()
	case failed:
		e.notBefore = time.Now().Add(app.NextRetryDelay())
	}
	return res, final
}

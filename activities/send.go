package activities

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// MaxFailures is how many real failures end a call; 429s, pacing and a refused
// token are none.
const MaxFailures = 8

// Sender makes calls to Telegram. Its fields are set once, before it is
// registered.
type Sender struct {
	// API makes one request.
	API API
	// Budget grants the right to send.
	Budget Budget
	// Recorder writes the ledger.
	Recorder Recorder
	// Unauthorized is told when Telegram refuses the token, and when a call was
	// taken after that. Nil is allowed.
	Unauthorized func(bool)

	answers *answers
	stop    context.Context //nolint:containedctx // the life of the requests in the air, not of one call
}

// NewSender returns a Sender. Requests in the air when stop ends are cut: their
// outcome is then unknown.
func NewSender(stop context.Context, api API, budget Budget, recorder Recorder) *Sender {
	return &Sender{API: api, Budget: budget, Recorder: recorder, answers: newAnswers(), stop: stop}
}

// Send makes one call. Run twice in one process it sends once and gives the same
// answer twice. Run twice in two processes it sends again if the call is
// at-least-once, and then says so in PossibleDuplicate; an at-most-once call
// found under way ends Uncertain.
//
// A retry of the activity is always meant: the server keeps the delay, the
// ledger keeps the count.
func (s *Sender) Send(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
	info := activity.GetInfo(ctx)
	t, err := s.newTry(ctx, info, in)
	if err != nil {
		return contract.CallResult{Method: in.Call.Method}, err
	}
	ctx, stop := t.fed(ctx)
	defer stop()
	id := info.WorkflowExecution.RunID + "/" + info.ActivityID
	res, err := s.answers.once(ctx, id, func() (contract.CallResult, error) { return t.run(ctx) })
	if errors.Is(err, errElsewhere) {
		// Nothing is written: what the running attempt marked must stand.
		return t.result(), t.retryable(contract.FailurePaced, backoffLeast, err.Error())
	}
	return res, err
}

// try is one attempt of one call.
type try struct {
	*Sender
	*book
	info   activity.Info
	in     contract.SendInput
	method telegram.Method
	params json.RawMessage
	chat   int64 // whose budget it spends, 0 for none
	// address is the chat the call was made for; params follow it when it moves.
	address string
	// settle gives the grant of the last request back.
	settle func()
}

func (s *Sender) newTry(ctx context.Context, info activity.Info, in contract.SendInput) (*try, error) {
	params, err := in.Call.Object()
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError("params are no JSON", contract.FailureRejected, nil)
	}
	t := &try{
		Sender: s, book: s.openBook(ctx, info, in), info: info, in: in,
		method: telegram.Lookup(in.Call.Method), params: params,
		address: contract.Address(params),
	}
	t.chat = budgetChat(params)
	if t.ledger.MovedTo != 0 {
		t.readdress(t.ledger.MovedTo)
	}
	return t, nil
}

func (t *try) run(ctx context.Context) (contract.CallResult, error) {
	t.settle = func() {}
	defer func() { t.settle() }()
	if t.entries().InFlight {
		return t.result(), t.final(contract.FailureUncertain, "the process stopped while the request was under way")
	}
	if t.entries().Failures >= MaxFailures {
		return t.result(), t.final(contract.FailureGaveUp, "every attempt failed or vanished with its process")
	}
	answer, err := t.request(ctx)
	if t.moved(ctx, err) {
		answer, err = t.request(ctx)
	}
	if err = t.judge(ctx, err); err != nil {
		return t.result(), err
	}
	res := t.result()
	res.Outcome = contract.Delivered
	res.MessageID = messageID(answer)
	return res, nil
}

// request waits for the budget and makes one request, whose context is that of
// the process and not of the attempt: a request that has left is worth its
// answer even when the server has given the attempt up.
//
// The grant is settled only when the answer has been judged: a penalty must be
// in place before the next call of its scope is let go.
func (t *try) request(ctx context.Context) (json.RawMessage, error) {
	t.settle()
	t.settle = func() {}
	grant, err := t.Budget.Acquire(ctx, Want{
		Chat: t.chat, Method: t.method.Name, Items: telegram.Items(t.in.Call.Method, t.params),
		Counts: t.method.Counts, Priority: t.in.Call.Priority, Since: t.info.ScheduledTime,
	})
	var paced retryIn
	switch {
	case errors.As(err, &paced):
		return nil, err
	case err != nil:
		return nil, unsent{contract.FailurePaced, "the wait for the budget was cut short", err}
	}
	if t.in.Call.Delivery == contract.AtMostOnce && !t.method.Repeatable {
		if err := t.write(ctx, func(l *contract.Ledger) { l.InFlight = true }); err != nil {
			grant.Cancel()
			return nil, unsent{contract.FailureUnavailable, "Temporal did not take the mark", err}
		}
	}
	answer, err := t.API.Call(t.stop, t.in.Call.Method, t.params) //nolint:contextcheck // see above
	t.settle = grant.Done
	var te *telegram.Error
	if errors.As(err, &te) && !te.Written {
		t.settle = grant.Cancel
	}
	return answer, err
}

// unsent is an attempt that ended before its request left, for a reason that is
// none of the call's own. It counts no failure.
type unsent struct {
	kind, why string
	error
}

// result is what is known of the call so far.
func (t *try) result() contract.CallResult {
	l := t.entries()
	res := contract.CallResult{
		Method: t.in.Call.Method, ChatID: t.address, Attempts: int(t.info.Attempt),
		PossibleDuplicate: l.PossibleDuplicate, Error: l.Error,
	}
	if l.MovedTo != 0 {
		res.MovedTo = contract.Address(t.params)
	}
	return res
}

// left is the time until the call expires.
func (t *try) left() time.Duration { return time.Until(t.in.Deadline) }

func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads retries, guards nothing

package activities

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/internal/telegram"
)

// MaxFailures is how many real failures end a call; 429s, pacing, a refused
// token and the failures of an outage are none.
const MaxFailures = 8

// waitMost bounds what one attempt waits for the budget: with the requests that
// follow it stays below the ten minutes that the server gives an attempt. The
// wait also ends before the call's time does: an attempt that runs then may have
// sent it, as far as its workflow can know.
const waitMost = 5 * time.Minute

// Sender makes calls to Telegram for one time on duty. Its fields are set once,
// before it is registered.
type Sender struct {
	// API makes one request, or refuses with ErrNotOnDuty.
	API API
	// Budget grants the right to send.
	Budget Budget
	// Recorder writes the ledger.
	Recorder Recorder
	// Chats knows the chats that moved or are closed. Nil knows none.
	Chats Chats
	// Road tells an outage from a failure of the call. Nil takes every failure for
	// the call's own.
	Road *Road
	// Ended is told once of each call that ends for good in this process, answers
	// to queries included, and from many goroutines. Nil is allowed.
	Ended func(Sent)
	// Histories tells which recipients a broadcast has. Only SendBatch needs it.
	Histories Histories
	// Unauthorized is told once for each answer whether Telegram refused the
	// token, which ends the time on duty, or took a call. Nil is allowed.
	Unauthorized func(bool)

	answers *Answers
	names   names
	flows   flows
	stop    context.Context //nolint:containedctx // the life of the requests in the air, not of one call
}

// NewSender returns a Sender. Requests in the air when stop ends are cut: their
// outcome is then unknown. Answers are those of the whole process.
func NewSender(stop context.Context, api API, budget Budget, recorder Recorder, answers *Answers) *Sender {
	return &Sender{API: api, Budget: budget, Recorder: recorder, answers: answers, stop: stop}
}

// Send makes one call. Run twice in one process it sends once and gives the same
// answer twice. Run twice in two processes it sends again if the call is
// at-least-once, and then says so in PossibleDuplicate; an at-most-once call
// found under way ends Uncertain.
//
// A retry of the activity is always meant: the server keeps the delay, the
// ledger keeps the count. Only what is shown for seconds is made in the first
// attempt or not at all.
//
// Cancelled, it makes no further request and ends with a CanceledError whose
// detail is what is known of the call; it hears of that within five seconds. A
// request that has left is awaited, and what it brought for good stands. A process
// that stops cancels nothing: its calls are made by the next one.
func (s *Sender) Send(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
	info := activity.GetInfo(ctx)
	b := s.openBook(ctx, info, in)
	t, err := s.newTry(info, in, b)
	if err != nil {
		return contract.CallResult{Method: in.Call.Method}, err
	}
	held, wanted, stop := b.fed(ctx, feedEvery)
	defer stop()
	id := info.WorkflowExecution.RunID + "/" + info.ActivityID
	res, err := s.answers.once(held, id, func() (contract.CallResult, error) {
		res, err := t.run(wanted)
		t.report(err)
		return res, err
	})
	if errors.Is(err, errElsewhere) {
		// Nothing is written: what the running attempt marked must stand.
		return t.result(), t.retryable(contract.FailurePaced, backoffLeast, err.Error())
	}
	t.acknowledge(ctx, err)
	return res, err
}

func (t *try) run(ctx context.Context) (contract.CallResult, error) {
	t.settle = func() {}
	defer func() { t.settle() }()
	if err := t.spent(); err != nil {
		return t.result(), err
	}
	t.resolve(ctx)
	answer, err := t.request(ctx)
	for t.follow(ctx, err) || t.simplify(ctx, err) { // once each
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
// answer even when the server has given the attempt up. What fails before it
// leaves is an unsent.
//
// The grant is settled only when the answer has been judged: a penalty must be
// in place before the next call of its scope is let go.
func (t *try) request(ctx context.Context) (json.RawMessage, error) {
	grant, err := t.allowed(ctx)
	if err != nil {
		return nil, unsent{err}
	}
	t.settle, t.departed = grant.Done, time.Now()
	answer, err := t.API.Call(t.stop, t.in.Call.Method, t.params) //nolint:contextcheck // see above
	te, ok := errors.AsType[*telegram.Error](err)
	switch {
	case errors.Is(err, ErrNotOnDuty):
		t.settle = grant.Cancel
		return nil, unsent{ErrNotOnDuty}
	case ok && !te.Written:
		t.settle = grant.Cancel
	case passage(err) != through:
		t.settle = grant.Lost
	}
	t.own = t.Road.heard(t.chat, err)
	return answer, err
}

// allowed waits until the request may leave. A mark can take long where Temporal is
// slow, and a penalty may begin meanwhile: then it waits for that, too.
func (t *try) allowed(ctx context.Context) (Grant, error) {
	for {
		t.settle()
		t.settle = func() {}
		grant, err := t.admit(ctx)
		if err != nil {
			return nil, err
		}
		t.settle, t.granted = grant.Cancel, time.Now()
		if err := t.ready(ctx); err != nil {
			return nil, err
		}
		if grant.Stands() {
			return grant, nil
		}
	}
}

// ready marks a request that may not be made twice, and looks a last time whether the attempt
// is wanted.
func (t *try) ready(ctx context.Context) error {
	if err := t.depart(ctx); err != nil {
		return errUnmarked
	}
	return context.Cause(ctx)
}

// admit waits for the right to make one request. What is known of the chat is
// looked at before and after: of ten calls that wait for a chat, the first one to
// learn that it is closed spares the others their requests.
func (t *try) admit(ctx context.Context) (Grant, error) {
	if err := t.standing(ctx); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithDeadline(ctx, t.patience)
	defer cancel()
	grant, err := t.Budget.Acquire(waiting, Want{
		Chat: t.chat, Method: t.method.Name, Items: telegram.Items(t.in.Call.Method, t.params),
		Counts: t.method.Counts, Priority: t.in.Call.Priority, Since: t.since(),
		Transient: t.method.Transient, Edits: edited(t.method.Name, t.params),
		Flow: t.flow, FlowRate: t.flowRate, Paid: t.paid,
	})
	if err != nil {
		return nil, err
	}
	if err := t.standing(ctx); err != nil {
		grant.Cancel()
		return nil, err
	}
	return grant, nil
}

func jitter() float64 { return rand.Float64() } //nolint:gosec // spreads retries, guards nothing

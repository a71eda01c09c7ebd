package workflows

import (
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

const (
	// actionsKept and resultsKept bound what a letter tells of actions, so that its
	// memo stays small: the last actions, and of each the first results.
	actionsKept = 20
	resultsKept = 50
)

// handlerWords stand for what a handler said: an author's error may quote a
// message, and a memo holds no message text.
const handlerWords = "the handler failed at every attempt; its own words are in the failure of the workflow that ran it"

// DeadLetterWorkflow is a dead letter: what is left to do of a message or an
// update that died, and the doors through which a person has it done again
// (contract.ReplayUpdate) or gives it up (contract.DiscardUpdate). An open one is
// a letter that can be acted on. It shows its state in the memo, and completes
// with it when everything has been done, when it is given up, or after
// contract.DeadLife.
//
// Raw is the update's own bytes where the update itself is to be handled again.
// What a replay delivered is never made again.
func DeadLetterWorkflow(ctx workflow.Context, in contract.DeadInput, raw converter.RawValue) (contract.DeadState, error) {
	l, err := newLetter(ctx, in, raw)
	if err != nil {
		return l.state, err
	}
	err = l.run(ctx)
	rest, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	_ = workflow.Await(rest, func() bool { return workflow.AllHandlersFinished(rest) }) // only a cancel is an error, and this one cannot be
	l.show(ctx)                                                                         // what was done before the first task is not shown yet
	l.pass(ctx)
	return l.state, err
}

// letter is the state of one DeadLetterWorkflow.
type letter struct {
	*turn
	board
	in    contract.DeadInput
	raw   converter.RawValue
	left  []owed
	state contract.DeadState
	// wanted is the replay that was accepted and has not begun, nil for none.
	wanted *contract.Replay
}

// newLetter opens a letter and its doors. The parent started it with the memo and
// the attributes of this state.
func newLetter(ctx workflow.Context, in contract.DeadInput, raw converter.RawValue) (*letter, error) {
	l := &letter{turn: newTurn(ctx, ""), in: in, raw: raw, state: stateOf(in)}
	l.again, l.passed = true, true
	l.board = shownBefore(l.state, string(in.Reason))
	for i, call := range in.Calls {
		// Behind the first only an independent one was tried.
		tried := i == 0 || call.Independent
		l.left = append(l.left, owed{call: call, uncertain: tried && in.Reason == contract.ReasonUncertain})
	}
	if len(l.left) > 0 {
		l.left[0].ledger = in.Ledger
	}
	replay := workflow.UpdateHandlerOptions{Validator: l.mayReplay, Description: "make its calls again"}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, contract.ReplayUpdate, l.askReplay, replay); err != nil {
		return l, err
	}
	discard := workflow.UpdateHandlerOptions{Validator: l.mayDiscard, Description: "give it up"}
	return l, workflow.SetUpdateHandlerWithOptions(ctx, contract.DiscardUpdate, l.discard, discard)
}

// stateOf is where a letter stands that nobody has acted on.
func stateOf(in contract.DeadInput) contract.DeadState {
	s := contract.DeadState{
		State: contract.DeadOpen, Kind: in.Kind, Key: in.Key, Reason: in.Reason, Error: in.Error, Attempts: in.Attempts,
		ChatID: in.ChatID, Method: in.Method, AcceptedAt: in.AcceptedAt, At: in.At, Deadline: in.Deadline,
		Left: len(in.Calls), Delivered: in.Delivered,
	}
	if in.Reason == contract.ReasonHandlerFailed {
		s.Error = handlerWords
	}
	return s
}

// run acts as it is asked until the letter is closed. Who asks for its end while
// nothing is replayed does not wait; who asks during a replay waits for that.
func (l *letter) run(ctx workflow.Context) error {
	until := l.in.At.Add(contract.DeadLife).Sub(workflow.Now(ctx))
	life := workflow.NewTimerWithOptions(ctx, until, workflow.TimerOptions{Summary: "until it is too late to act"})
	for l.state.State == contract.DeadOpen {
		_ = workflow.Await(ctx, func() bool { // what follows asks for the cancel
			return l.wanted != nil || l.state.State != contract.DeadOpen || l.asked() || life.IsReady()
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case l.wanted != nil:
			l.replay(ctx)
		case l.state.State == contract.DeadOpen && life.IsReady():
			l.state.State = contract.DeadExpired
		}
		l.show(ctx)
		l.pass(ctx)
	}
	return nil
}

// askReplay takes a replay on.
func (l *letter) askReplay(ctx workflow.Context, r contract.Replay) (contract.DeadState, error) {
	l.wanted, l.state.Replaying = &r, true
	l.act(contract.DeadAction{
		What: "replay", By: r.By, Reason: r.Reason, At: workflow.Now(ctx),
		Edited: len(r.Edit) > 0, AllowDuplicate: r.AllowDuplicate,
	})
	return l.state, nil
}

// discard closes the letter.
func (l *letter) discard(ctx workflow.Context, d contract.Discard) (contract.DeadState, error) {
	l.state.State = contract.DeadDiscarded
	l.act(contract.DeadAction{What: "discard", By: d.By, Reason: d.Reason, At: workflow.Now(ctx)})
	return l.state, nil
}

func (l *letter) act(a contract.DeadAction) {
	l.state.Actions = append(l.state.Actions, a)
	if more := len(l.state.Actions) - actionsKept; more > 0 {
		l.state.Actions = l.state.Actions[more:]
	}
}

// show puts the state into the memo, and what it comes to into TgOutcome.
func (l *letter) show(ctx workflow.Context) {
	l.board.show(ctx, l.state)
	if !l.in.Attributes {
		return
	}
	switch {
	case l.state.Replaying:
		l.showOutcome(ctx, contract.OutcomeReplaying)
	case l.state.State == contract.DeadOpen:
		l.showOutcome(ctx, string(l.state.Reason))
	default:
		l.showOutcome(ctx, string(l.state.State))
	}
}

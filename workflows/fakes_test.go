package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

func (s *stage) fake() {
	var turns *activities.Turns
	var handling *activities.Handling
	s.env.RegisterActivityWithOptions(func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, nil
	}, activity.RegisterOptions{Name: contract.SendActivity})
	s.env.RegisterActivity(handling.Handle)
	s.env.OnActivity(turns.AwaitTurn, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in contract.TurnInput) (bool, error) {
			s.turns++
			s.note("ask " + in.After + " for " + in.Self)
			return s.turn(s.turns)
		})
	s.env.OnActivity(turns.PassTurn, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in contract.PassInput) error {
			require.Equal(s.t, self, in.Self)
			what := "pass "
			if in.Again {
				what = "wake "
			}
			s.note(strings.TrimSpace(what + strings.Join(in.Askers, " ")))
			if s.passed != nil {
				s.passed()
			}
			return s.passError
		})
	s.env.OnActivity(handling.Handle, mock.Anything, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, in contract.HandleInput, raw converter.RawValue) ([]contract.Call, error) {
			s.handles++
			s.handled = append(s.handled, in)
			kind := "handle"
			if activity.GetInfo(ctx).IsLocalActivity {
				kind = "handle locally"
			}
			require.JSONEq(s.t, rawUpdate, string(raw.Payload().GetData()))
			s.note(kind)
			return s.handler(s.handles)
		})
	s.env.OnActivity(contract.SendActivity, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
			s.note("send " + name(in.Call))
			s.mu.Lock()
			s.sends, s.sent = append(s.sends, in), append(s.sent, activity.GetInfo(ctx))
			s.mu.Unlock()
			return s.send(ctx, in)
		})
}

// fakeMore fakes what only some workflows ask for.
func (s *stage) fakeMore() {
	var turns *activities.Turns
	s.env.RegisterActivity(activities.Split)
	s.env.OnActivity(activities.Split, mock.Anything, mock.Anything).Return(
		func(_ context.Context, call contract.Call) (contract.SplitResult, error) {
			s.note("cut")
			return s.split(call)
		})
	s.env.OnActivity(turns.Attempts, mock.Anything).Return(
		func(context.Context) (contract.Ledger, error) {
			s.note("look at the attempts")
			return s.known, s.knownError
		})
	s.env.OnActivity(turns.Outcome, mock.Anything, mock.Anything).Return(
		func(_ context.Context, id string) (contract.Outcome, error) {
			s.outcomes++
			s.note("how ended " + id)
			return s.outcome(s.outcomes)
		})
}

// fakeLetters records the dead letters that are left.
func (s *stage) fakeLetters() {
	s.graveyard = s.env.OnWorkflow(contract.DeadLetterWorkflow, mock.Anything, mock.Anything, mock.Anything)
	s.graveyard.Return(
		func(ctx workflow.Context, in contract.DeadInput, raw converter.RawValue) (contract.DeadState, error) {
			s.note("bury " + workflow.GetInfo(ctx).WorkflowExecution.ID)
			s.buried, s.bodies = append(s.buried, in), append(s.bodies, string(raw.Payload().GetData()))
			return contract.DeadState{}, nil
		})
}

// fakeMessages records the message workflows that are started, and ends them.
func (s *stage) fakeMessages() {
	s.env.OnWorkflow(contract.MessageWorkflow, mock.Anything, mock.Anything).Return(
		func(ctx workflow.Context, in contract.MessageInput) (contract.CallResult, error) {
			s.note("message " + workflow.GetInfo(ctx).WorkflowExecution.ID)
			s.messages = append(s.messages, in)
			return contract.CallResult{}, nil
		})
}

// atBars cuts a text at its bars.
func atBars(call contract.Call) (contract.SplitResult, error) {
	var res contract.SplitResult
	for part := range strings.SplitSeq(name(call), "|") {
		piece := say(part)
		piece.TTL, piece.Delivery = call.TTL, call.Delivery
		res.Calls = append(res.Calls, piece)
	}
	return res, nil
}

// long is a call that is cut at the bars of its text.
func long(text string) contract.Call {
	call := say(text)
	call.Split = true
	return call
}

// numbered delivers as delivers does, each message under the number that is its
// text.
func numbered(_ context.Context, in contract.SendInput) (contract.CallResult, error) {
	return contract.CallResult{
		Method: in.Call.Method, ChatID: "42", Outcome: contract.Delivered, MessageID: name(in.Call), Attempts: 1,
		Degraded: in.Ledger != nil && in.Ledger.Degraded, PossibleDuplicate: in.Ledger != nil && in.Ledger.PossibleDuplicate,
	}, nil
}

// asJSON is a value as it is shown.
func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// names are how calls appear in the story.
func names(calls []contract.Call) []string {
	all := []string{}
	for _, call := range calls {
		all = append(all, name(call))
	}
	return all
}

// paced is an attempt that is to be made again after a wait.
func paced(wait time.Duration) error {
	return temporal.NewApplicationErrorWithOptions("wait", contract.FailurePaced, temporal.ApplicationErrorOptions{NextRetryDelay: wait})
}

package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func TestADeadMessageLeavesALetter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	in := letter()
	in.Call.Key, in.Call.At, in.Call.TTL = "k", s.start.Add(-time.Minute), time.Hour
	in.AcceptedAt, in.Attributes = s.start.Add(-time.Hour).UTC(), true
	_, err := s.runMessage(in)
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	got := s.buried[0]
	require.WithinDuration(t, s.start, got.At, time.Second)
	require.WithinDuration(t, s.start.Add(time.Hour), got.Deadline, time.Second)
	left := say("1")
	left.TTL = time.Hour
	require.Equal(t, contract.DeadInput{
		BotID: bot, Kind: contract.DeadMessage, Key: "k", Reason: contract.ReasonRejected, Error: "because", Attempts: 1,
		ChatID: "42", Method: "sendMessage", AcceptedAt: in.AcceptedAt, At: got.At, Deadline: got.Deadline,
		Calls: []contract.Call{left}, Attributes: true,
	}, got, "the letter makes the call itself, now")
}

func TestOnlyATTLThatWasAskedForLimitsALetter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	_, _ = s.runMessage(letter())
	require.Zero(t, s.buried[0].Deadline)
	require.WithinDuration(t, s.start, s.buried[0].AcceptedAt, time.Second)
}

func TestALetterIsListedAtOnceAndOutlivesWhatDied(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	in := update()
	in.Attributes = true
	_, _ = s.run(in)
	opts := s.asked.children[0]
	require.Equal(t, "dead/7/update/9001", opts.WorkflowID)
	require.Equal(t, "durabot-7", opts.TaskQueue)
	require.Equal(t, enumspb.PARENT_CLOSE_POLICY_ABANDON, opts.ParentClosePolicy)
	require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, opts.WorkflowIDReusePolicy)
	require.Equal(t, "sendMessage → chat 42 died: rejected", opts.StaticSummary)
	kind, chat := temporal.NewSearchAttributeKeyKeyword(contract.AttributeKind), temporal.NewSearchAttributeKeyKeyword(contract.AttributeChat)
	require.Equal(t, temporal.NewSearchAttributes(
		kind.ValueSet("sendMessage"), chat.ValueSet("42"), outcomeKey.ValueSet("rejected")), opts.TypedSearchAttributes)
	state := opts.Memo[contract.MemoState].(contract.DeadState)
	require.Equal(t, contract.DeadOpen, state.State)
	require.Equal(t, "update/9001", state.ID())
	require.Equal(t, 1, state.Left)
	require.Equal(t, "because", state.Error)
}

func TestALetterOfAnUpdateHoldsAllItsDeadCallsInOrder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	keyed, timed, independent := say("4"), say("5"), say("6")
	keyed.Key, timed.At, independent.Independent = "k", s.start.Add(time.Hour), true
	s.handler = calls(say("1"), say("rejected"), say("3"), keyed, timed, independent)
	s.send = endsAsNamed
	_, err := s.run(update())
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	got := s.buried[0]
	require.Equal(t, []string{"rejected", "3", "4", "5"}, names(got.Calls))
	require.Equal(t, "k", got.Calls[2].Key)
	require.Equal(t, "update-9001-4", got.Calls[3].Key, "its place among all calls names it")
	require.Equal(t, 2, got.Delivered)
	require.Nil(t, got.Update)
	require.Equal(t, contract.DeadUpdate, got.Kind)
	require.Equal(t, "9001", got.Key)
	require.Empty(t, s.bodies[0], "an update that was handled is not handled again")
}

func TestALetterIsUncertainAsSoonAsOneOfItsCallsIs(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	independent := say("uncertain")
	independent.Independent = true
	s.handler = calls(say("rejected"), independent)
	s.send = endsAsNamed
	res, _ := s.run(update())
	require.Equal(t, contract.ReasonRejected, res.Reason)
	require.Equal(t, contract.ReasonUncertain, s.buried[0].Reason)
	require.Equal(t, []string{"rejected", "uncertain"}, names(s.buried[0].Calls))
	require.Nil(t, s.buried[0].Ledger, "which is that of the first")
}

func TestALetterKnowsWhatWasKnownOfItsFirstCall(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		known contract.CallResult
		want  *contract.Ledger
	}{
		contract.FailureUncertain: {contract.CallResult{}, &contract.Ledger{PossibleDuplicate: true}},
		contract.FailureGaveUp:    {contract.CallResult{PossibleDuplicate: true, Degraded: true}, &contract.Ledger{PossibleDuplicate: true, Degraded: true}},
		contract.FailureMoved:     {contract.CallResult{MovedTo: "-1001234567890123"}, &contract.Ledger{MovedTo: -1001234567890123}},
		contract.FailureRejected:  {contract.CallResult{}, nil},
	} {
		s := newStage(t)
		s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
			return contract.CallResult{}, final(kind, c.known)
		}
		_, _ = s.run(update())
		require.Equal(t, c.want, s.buried[0].Ledger, kind)
	}
}

func TestALetterOfAnUpdateThatWasNotHandledHoldsTheUpdate(t *testing.T) {
	t.Parallel()
	for reason, prepare := range map[contract.Reason]func(*stage, *contract.UpdateInput){
		contract.ReasonHandlerFailed: func(s *stage, _ *contract.UpdateInput) { s.handler = failing },
		contract.ReasonUndecodable:   func(_ *stage, in *contract.UpdateInput) { in.Dead = contract.ReasonUndecodable },
		contract.ReasonTooLarge:      func(_ *stage, in *contract.UpdateInput) { in.Dead = contract.ReasonTooLarge },
	} {
		s := newStage(t)
		in := update()
		prepare(s, &in)
		_, err := s.run(in)
		require.Contains(t, failure(err).Message(), "(dead letter update/9001)")
		got := s.buried[0]
		require.Equal(t, reason, got.Reason)
		require.Equal(t, &in, got.Update)
		require.JSONEq(t, rawUpdate, s.bodies[0])
		require.Equal(t, "message", got.Method)
		require.Equal(t, "42", got.ChatID)
		require.Empty(t, got.Calls)
	}
}

// An author's error may quote a message, and a memo is in every list.
func TestNoMemoHoldsWhatAHandlerSaid(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.handler = failing
	_, _ = s.run(update())
	require.Equal(t, "fails", s.buried[0].Error)
	require.Equal(t, 3, s.buried[0].Attempts)
	memo, err := json.Marshal(s.asked.children[0].Memo)
	require.NoError(t, err)
	require.NotContains(t, string(memo), "fails")
	require.Equal(t, "message → chat 42 died: handler_failed", s.asked.children[0].StaticSummary)
}

func TestWhatNobodyCanActOnLeavesNoLetter(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"expired", "unreachable", "superseded", "dropped", "1"} {
		s := newStage(t)
		s.env.OnGetVersion("dead-letters", workflow.DefaultVersion, workflow.Version(1)).Panic("asked")
		s.handler = calls(say(end))
		s.send = endsAsNamed
		_, err := s.run(update())
		require.NoError(t, err)
		require.Empty(t, s.buried)
	}
	s := newStage(t)
	s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, paced(time.Hour)
	}
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	_, err := s.run(update())
	require.NoError(t, err)
	require.Empty(t, s.buried)
}

func TestAHandlerThatIsCancelledLeavesNoLetter(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := update()
	in.Handling.Timeout = time.Hour
	s.handler = func(int) ([]contract.Call, error) { return nil, paced(10 * time.Minute) }
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	_, err := s.run(in)
	require.True(t, temporal.IsCanceledError(err))
	require.Empty(t, s.buried)
}

func TestWhatWasStartedBeforeThereWereLettersLeavesNone(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.OnGetVersion("dead-letters", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	s.send = dies("1", contract.FailureRejected)
	_, err := s.run(update())
	require.Equal(t, "rejected: because", failure(err).Message())
	require.Empty(t, s.buried)
}

func TestALetterThatCannotBeLeftIsNotNamed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	s.graveyard.Return(contract.DeadState{}, testsuite.ErrMockStartChildWorkflowFailed)
	_, err := s.run(update())
	require.Equal(t, "rejected: because", failure(err).Message())
}

func TestWhoeverAsksDuringTheBurialIsWoken(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = dies("1", contract.FailureRejected)
	s.passed = func() { s.passed = nil; s.env.SignalWorkflow(contract.WakeMeSignal, "next") }
	_, err := s.run(update())
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	require.Contains(t, s.story, "pass next")
}

package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func calls(all ...contract.Call) func(int) ([]contract.Call, error) {
	return func(int) ([]contract.Call, error) { return all, nil }
}

func TestACallThatDiesTakesTheRestUnlessIndependent(t *testing.T) {
	t.Parallel()
	independent := say("4")
	independent.Independent = true
	s := newStage(t)
	s.handler = calls(say("1"), say("2"), say("3"), independent)
	s.send = dies("2", contract.FailureRejected)
	res, err := s.run(update())
	require.Equal(t, contract.FailureRejected, failure(err).Type())
	require.Equal(t, []string{"handle locally", "send 1", "send 2", "send 4", "pass", grave}, s.story)
	require.Equal(t, "delivered, dead rejected, dead rejected, delivered", outcomes(res.Calls))
	require.Equal(t, contract.ReasonRejected, res.Reason)
	require.Equal(t, "because", res.Calls[1].Error)
	require.Contains(t, res.Calls[2].Error, "not sent")
	require.Equal(t, "42", res.Calls[2].ChatID)
}

func TestEveryDeathHasItsReason(t *testing.T) {
	t.Parallel()
	for kind, reason := range map[string]contract.Reason{
		contract.FailureRejected:  contract.ReasonRejected,
		contract.FailureUncertain: contract.ReasonUncertain,
		contract.FailureGaveUp:    contract.ReasonGaveUp,
		contract.FailureMoved:     contract.ReasonMovedTwice,
		"BrandNew":                contract.ReasonGaveUp,
	} {
		s := newStage(t)
		s.send = dies("1", kind)
		res, err := s.run(update())
		require.Equal(t, "dead "+string(reason), outcomes(res.Calls))
		require.Equal(t, reason, res.Reason)
		if kind != "BrandNew" {
			require.Equal(t, kind, failure(err).Type())
		}
	}
}

func TestAClosedChatEndsTheUpdateAsDoneAndSparesItsOtherCalls(t *testing.T) {
	t.Parallel()
	elsewhere := contract.Call{Method: "sendPhoto", Params: json.RawMessage(`{"chat_id":43}`)}
	s := newStage(t)
	s.handler = calls(say("1"), say("2"), elsewhere, say("3"))
	s.send = dies("1", contract.FailureUnreachable)
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.Done, res.Outcome)
	require.Equal(t, "unreachable, unreachable, delivered, unreachable", outcomes(res.Calls))
	require.Equal(t, []string{"handle locally", "send 1", "send sendPhoto", "pass"}, s.story)
}

func TestACallWithAKeyOrATimeBecomesAMessage(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	keyed, timed := say("1"), say("2")
	keyed.Key, timed.At = "order-5", s.start.Add(time.Hour)
	s.handler = calls(keyed, timed, say("3"))
	s.fakeMessages()
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, "pending, pending, delivered", outcomes(res.Calls))
	require.Equal(t, "message/7/order-5", res.Calls[0].WorkflowID)
	require.Equal(t, "message/7/update-9001-1", res.Calls[1].WorkflowID)
	require.Contains(t, s.story, "send 3")
	require.Len(t, s.messages, 2)
	require.Equal(t, int64(bot), s.messages[0].BotID)
	require.Equal(t, "order-5", s.messages[0].Key)
	require.False(t, s.messages[0].Overtaken)
	require.True(t, timed.At.Equal(s.messages[1].Call.At))
}

// A message runs on while its update does, and after it: it is not cancelled
// once it has started.
func TestAMessageIsNotCancelledByItsUpdate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	timed := say("1")
	timed.At = s.start.Add(time.Minute)
	s.handler = calls(timed, say("2"))
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" && len(s.sends) < 3 {
			return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("wait", contract.FailurePaced,
				temporal.ApplicationErrorOptions{NextRetryDelay: 2 * time.Minute})
		}
		return delivers(ctx, in)
	}
	_, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, []string{"handle locally", "send 2", "send 1", "send 2", "pass"}, s.story)
	require.Equal(t, time.Minute, s.at[2].Round(time.Second))
}

func TestAMessageOutlivesItsUpdateAndIsStartedOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	keyed := say("1")
	keyed.Key = "order-5"
	s.handler = calls(keyed, keyed)
	s.fakeMessages()
	var started []string
	s.env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
		started = append(started, info.WorkflowExecution.ID)
		require.Equal(t, "durabot-7", info.TaskQueueName)
	})
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, "pending, pending", outcomes(res.Calls), "already started is the same message")
	require.Equal(t, []string{"message/7/order-5"}, started)
	require.Equal(t, res.Calls[0].WorkflowID, res.Calls[1].WorkflowID)
}

func TestAnOvertakenCallGoesOnAsAMessageWithItsLedger(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ledger := contract.Ledger{Attempt: 4, Failures: 4, PossibleDuplicate: true, Error: "502"}
	next, deadline := s.start.Add(2*time.Minute).UTC(), s.start.Add(time.Hour).UTC()
	s.handler = calls(say("1"), say("2"))
	s.fakeMessages()
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		require.True(t, in.HoldsTurn)
		if name(in.Call) == "2" {
			return delivers(ctx, in)
		}
		res := contract.CallResult{Method: "sendMessage", ChatID: "42", PossibleDuplicate: true, Attempts: 4, Error: "502"}
		return res, final(contract.FailureOvertaken, res, ledger, next, deadline)
	}
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.Done, res.Outcome)
	require.Equal(t, "pending, delivered", outcomes(res.Calls))
	require.True(t, res.Calls[0].Overtaken)
	require.Equal(t, "message/7/update-9001-0", res.Calls[0].WorkflowID)
	require.Len(t, s.messages, 1)
	got := s.messages[0]
	require.Equal(t, ledger, *got.Ledger)
	require.True(t, got.Overtaken)
	require.True(t, next.Equal(got.NotBefore))
	require.True(t, deadline.Equal(got.Deadline))
	require.Equal(t, "1", name(got.Call))
}

func TestASendLivesAsLongAsItsCall(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	short := say("1")
	short.TTL = time.Minute
	s.handler = calls(short, say("2"), contract.Call{Method: "answerInlineQuery", Params: json.RawMessage(`{"inline_query_id":"5"}`)})
	_, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, time.Minute, s.sends[0].Deadline.Sub(s.start).Round(time.Second))
	require.Equal(t, contract.DefaultTTL, s.sends[1].Deadline.Sub(s.start).Round(time.Second))
	for i, queue := range []string{"durabot-7-send", "durabot-7-send", "durabot-7-answer"} {
		info := s.sent[i]
		require.Equal(t, queue, info.TaskQueue)
		require.Equal(t, 15*time.Second, info.HeartbeatTimeout)
		require.Equal(t, min(10*time.Minute, s.sends[i].Call.Lifetime()), info.StartToCloseTimeout)
	}
}

func TestEachClassHasAQueueOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var said []contract.Call
	for _, p := range []contract.Priority{"", contract.Normal, contract.Urgent, contract.Bulk} {
		call := say(string(p))
		call.Priority = p
		said = append(said, call)
	}
	s.handler = calls(said...)
	_, err := s.run(update())
	require.NoError(t, err)
	for i, queue := range []string{"durabot-7-send", "durabot-7-send", "durabot-7-send-urgent", "durabot-7-send-bulk"} {
		require.Equal(t, queue, s.sent[i].TaskQueue)
	}
}

func TestASummaryNamesTheChatAndNoText(t *testing.T) {
	t.Parallel()
	require.Equal(t, "sendMessage → chat 42", say("secret").Summary())
	require.Equal(t, "setMyCommands", contract.Call{Method: "setMyCommands"}.Summary())
}

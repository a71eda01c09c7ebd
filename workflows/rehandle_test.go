package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/durabot/durabot/internal/contract"
)

func TestAnUpdateIsHandledAgainOnceAndThenOnlyItsCallsAreLeft(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.handler = calls(say("1"), say("2"))
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) == "2" && len(s.sends) == 2 {
			return dies("2", contract.FailureRejected)(ctx, in)
		}
		return numbered(ctx, in)
	}
	s.replays(time.Minute, contract.Replay{})
	s.replays(time.Hour, contract.Replay{})
	in := s.unhandled()
	state := s.lies(in)
	require.Equal(t, []string{"handle", "send 1", "send 2", "wake", "send 2", "wake"}, s.story)
	require.Equal(t, contract.HandleInput{
		UpdateID: 9001, Kind: "message", ChatID: 42, UserID: 43, ReceivedAt: in.Update.ReceivedAt,
	}, s.handled[0])
	require.Equal(t, contract.DeadReplayed, state.State)
	require.Equal(t, 2, state.Delivered)
	require.Equal(t, contract.ReasonRejected, state.Reason, "it died anew")
	require.Equal(t, "sendMessage", state.Method)
}

func TestAnUpdateWithoutCallsIsReplayed(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.handler = calls()
	s.replays(time.Minute, contract.Replay{})
	require.Equal(t, contract.DeadReplayed, s.lies(s.unhandled()).State)
}

func TestAHandlerThatFailsAnewLeavesTheLetterOpen(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.handler = failing
	s.replays(time.Minute, contract.Replay{})
	s.discards(time.Hour)
	in := s.unhandled()
	in.Reason, in.Error, in.Update.Handling.Attempts = contract.ReasonUndecodable, "", 2
	state := s.lies(in)
	require.Equal(t, []string{"handle", "handle", "wake"}, s.story)
	require.Equal(t, contract.ReasonHandlerFailed, state.Reason)
	require.Equal(t, 5, state.Attempts)
	require.Empty(t, state.Actions[0].Calls)
	require.NotContains(t, strings.Join(s.shown.memos, " "), "fails", "an author's error may quote a message")
}

func TestACallWithAKeyOrATimeOfAReplayBecomesAMessage(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.fakeMessages()
	keyed, timed := say("2"), say("3")
	keyed.Key, timed.At = "order-5", s.start.Add(day)
	s.handler = calls(say("1"), keyed, timed)
	s.replays(time.Minute, contract.Replay{})
	state := s.lies(s.unhandled())
	require.Equal(t, contract.DeadReplayed, state.State)
	require.Equal(t, "delivered, pending, pending", outcomes(state.Actions[0].Calls))
	require.Equal(t, "message/7/order-5", state.Actions[0].Calls[1].WorkflowID)
	require.Equal(t, "message/7/update-9001-2", state.Actions[0].Calls[2].WorkflowID)
	require.Equal(t, 1, state.Delivered)
	require.Len(t, s.asked.children, 2)
	for _, in := range s.messages {
		require.True(t, in.Counted && in.CancelWaits && in.Attributes)
		require.Equal(t, int64(bot), in.BotID)
	}
}

func TestAReplayWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.turn = func(int) (bool, error) { return false, nil }
	const earlier = "dead/7/message/k"
	s.replays(time.Minute, contract.Replay{After: earlier})
	s.env.RegisterDelayedCallback(func() {
		require.True(t, s.now().Replaying)
		s.env.SignalWorkflow(contract.YourTurnSignal, earlier)
	}, 80*time.Second)
	s.lies(s.deadLetter(say("1")))
	require.Equal(t, []string{"ask " + earlier + " for " + self, "send 1", "wake"}, s.story)
	require.Equal(t, 80*time.Second, s.at[1].Round(time.Second))
}

// A signal that answers the question of an earlier replay.
func TestAReplayIsNotLetGoByAnOldAnswer(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	s.send = dies("1", contract.FailureRejected)
	s.turn = func(n int) (bool, error) { return n != 2, nil }
	s.replays(time.Minute, contract.Replay{After: "dead/7/message/a"})
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.YourTurnSignal, "dead/7/message/a") }, 2*time.Minute)
	s.replays(time.Hour, contract.Replay{After: "dead/7/message/b"})
	s.lies(s.deadLetter(say("1")))
	require.Equal(t, time.Hour+30*time.Second, s.at[5].Round(time.Second), "it asks again")
}

func TestWhoAsksALetterWaitsForItsReplayAndForNothingElse(t *testing.T) {
	t.Parallel()
	s := newGrave(t)
	asks := func(after time.Duration, who string) {
		s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.WakeMeSignal, who) }, after)
	}
	s.send = func(context.Context, contract.SendInput) (contract.CallResult, error) {
		if len(s.sends) == 1 {
			return contract.CallResult{}, paced(10 * time.Minute)
		}
		return contract.CallResult{}, final(contract.FailureRejected, contract.CallResult{})
	}
	asks(time.Minute, "a")
	s.replays(time.Hour, contract.Replay{})
	asks(time.Hour+time.Minute, "b")
	asks(2*time.Hour, "c")
	s.lies(s.deadLetter(say("1")))
	require.Equal(t, []string{"wake a", "send 1", "send 1", "wake b", "wake c"}, s.story)
	require.Equal(t, time.Minute, s.at[0].Round(time.Second))
	require.Equal(t, time.Hour+10*time.Minute, s.at[3].Round(time.Minute))
}

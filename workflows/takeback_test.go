package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// limitedFor is a send that is refused, and tried again after a time.
func limitedFor(d time.Duration) func(context.Context, contract.SendInput) (contract.CallResult, error) {
	return func(context.Context, contract.SendInput) (contract.CallResult, error) {
		return contract.CallResult{}, temporal.NewApplicationErrorWithOptions("wait", contract.FailureRateLimited,
			temporal.ApplicationErrorOptions{NextRetryDelay: d})
	}
}

func TestAMessageTakenBackBetweenTwoAttemptsSaysWhetherItMayHaveArrived(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known    contract.Ledger
		err      error
		delivery contract.Delivery
		perhaps  bool // it may have arrived
	}{
		"nothing left":                     {contract.Ledger{Attempt: 1}, nil, contract.AtLeastOnce, false},
		"an answer was lost":               {contract.Ledger{Attempt: 1, PossibleDuplicate: true}, nil, contract.AtLeastOnce, true},
		"nobody can be asked":              {contract.Ledger{}, errors.New("away"), contract.AtLeastOnce, true},
		"at most once, nothing left":       {contract.Ledger{Attempt: 1}, nil, contract.AtMostOnce, false},
		"at most once, one vanished":       {contract.Ledger{PossibleDuplicate: true}, nil, contract.AtMostOnce, false},
		"at most once, one may have left":  {contract.Ledger{InFlight: true}, nil, contract.AtMostOnce, true},
		"at most once, nobody can be told": {contract.Ledger{}, errors.New("away"), contract.AtMostOnce, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.send, s.known, s.knownError = limitedFor(time.Hour), c.known, c.err
			s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
			in := letter()
			in.CancelWaits, in.Call.Delivery = true, c.delivery
			res, err := s.runMessage(in)
			require.Len(t, s.sends, 1)
			if c.perhaps && c.delivery == contract.AtMostOnce {
				require.Equal(t, contract.FailureUncertain, failure(err).Type())
				require.Equal(t, contract.ReasonUncertain, res.Reason)
				return
			}
			require.NoError(t, err)
			require.Equal(t, contract.Cancelled, res.Outcome)
			require.Equal(t, c.perhaps, res.PossibleDuplicate)
		})
	}
}

func TestAMessageOfBeforeIsTakenBackAsItWas(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = limitedFor(time.Hour)
	s.env.OnGetVersion("takes-back-knowingly", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	in := letter()
	in.CancelWaits = true
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
	require.NotContains(t, s.story, "look at the attempts")
}

func TestACancelThatComesWithTheAnswerIsTooLate(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		s.env.CancelWorkflow()
		return numbered(ctx, in)
	}
	in := letter()
	in.CancelWaits = true
	res, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
}

func TestAMessageThatIsCancelledKeepsTheDoubtOfAnEarlierSend(t *testing.T) {
	t.Parallel()
	for name, holdUp := range map[string]func(*stage, *contract.MessageInput){
		"before its time":        func(s *stage, in *contract.MessageInput) { in.NotBefore = s.start.Add(time.Hour) },
		"before its turn":        func(_ *stage, in *contract.MessageInput) { in.After = before },
		"before it left":         func(_ *stage, in *contract.MessageInput) { in.CancelWaits = true },
		"before it left, a part": func(_ *stage, in *contract.MessageInput) { in.CancelWaits, in.Call.Split = true, true },
		"at once":                func(*stage, *contract.MessageInput) {},
	} {
		for _, doubtful := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %t", name, doubtful), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				s.send = limitedFor(time.Hour)
				s.turn = func(int) (bool, error) { return false, nil }
				s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
				in := letter()
				in.Overtaken, in.Ledger = true, &contract.Ledger{Attempt: 4, PossibleDuplicate: doubtful}
				holdUp(s, &in)
				res, err := s.runMessage(in)
				require.NoError(t, err)
				require.Equal(t, contract.Cancelled, res.Outcome)
				require.Equal(t, doubtful, res.PossibleDuplicate)
			})
		}
	}
}

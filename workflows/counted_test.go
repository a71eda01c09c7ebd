package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

var outcomeKey = temporal.NewSearchAttributeKeyKeyword(contract.AttributeOutcome)

// due is a message that a handler wants sent in an hour.
func (s *stage) due() contract.MessageInput {
	in := letter()
	in.Call.At, in.Counted, in.Attributes = s.start.Add(time.Hour).UTC(), true, true
	require.NoError(s.t, s.env.SetTypedSearchAttributesOnStart(temporal.NewSearchAttributes(outcomeKey.ValueSet(contract.OutcomeScheduled))))
	return in
}

// next plays a message up to the end of its run and returns what the next one
// starts with.
func (s *stage) next(in contract.MessageInput) contract.MessageInput {
	s.t.Helper()
	s.env.ExecuteWorkflow(contract.MessageWorkflow, in)
	again, ok := errors.AsType[*workflow.ContinueAsNewError](s.env.GetWorkflowError())
	require.True(s.t, ok, "%v", s.env.GetWorkflowError())
	require.Equal(s.t, contract.MessageWorkflow, again.WorkflowType.Name)
	var next contract.MessageInput
	require.NoError(s.t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	return next
}

func TestACallThatIsDueBeginsANewRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := s.due()
	next := s.next(in)
	require.Equal(t, time.Hour, s.env.Now().Sub(s.start).Round(time.Second))
	require.Empty(t, s.story)
	require.Equal(t, []string{unset}, s.shown.outcomes, "it is scheduled no more")
	require.Equal(t, s.start.Unix(), next.AcceptedAt.Unix())
	in.AcceptedAt = next.AcceptedAt
	require.Equal(t, asJSON(in), asJSON(next))

	s = newStage(t)
	s.env.SetStartTime(next.Call.At)
	res, err := s.runMessage(next)
	require.NoError(t, err)
	require.Equal(t, contract.Delivered, res.Outcome)
	require.Empty(t, s.shown.outcomes)
}

func TestACallThatSomebodyWaitsForStaysInItsRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.RegisterDelayedCallback(func() { s.env.SignalWorkflow(contract.WakeMeSignal, "next") }, time.Minute)
	_, err := s.runMessage(s.due())
	require.NoError(t, err)
	require.Equal(t, []string{"send 1", "wake next"}, s.story, "the next run would not know of it")
	require.Equal(t, []string{unset}, s.shown.outcomes)
}

func TestACallThatIsCancelledBeforeItIsDueEndsInItsRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	res, err := s.runMessage(s.due())
	require.NoError(t, err)
	require.Equal(t, contract.Cancelled, res.Outcome)
	require.Equal(t, []string{"cancelled"}, s.shown.outcomes)
}

// Its time may come while it is started.
func TestACallThatIsDueWhenItStartsIsScheduledNoMore(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := s.due()
	in.Call.At = s.start.Add(-time.Second)
	_, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, []string{"send 1"}, s.story)
	require.Equal(t, []string{unset}, s.shown.outcomes)
}

func TestACallThatIsHeldBackStaysInItsRun(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := letter()
	in.NotBefore, in.Counted, in.Attributes = s.start.Add(time.Hour), true, true
	_, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, []string{"send 1"}, s.story, "it has been under way all the time")
}

func TestAnUpdateShowsThatItIsHandledWhenCallsAreMadeInItsTurn(t *testing.T) {
	t.Parallel()
	keyed := say("k")
	keyed.Key = "k"
	for name, c := range map[string]struct {
		calls               []contract.Call
		counted, attributes bool
		want                []string
	}{
		"a call":                {[]contract.Call{keyed, say("1")}, true, true, []string{"handled"}},
		"a call that ends":      {[]contract.Call{say("expired")}, true, true, []string{"handled", "expired"}},
		"no call":               {nil, true, true, nil},
		"a message":             {[]contract.Call{keyed}, true, true, nil},
		"not asked for":         {[]contract.Call{say("1")}, false, true, nil},
		"not known to Temporal": {[]contract.Call{say("1")}, true, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.handler = calls(c.calls...)
			s.fakeMessages()
			s.send = func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
				require.Equal(t, c.counted && c.attributes, len(s.shown.outcomes) > 0, "before the call is made")
				return endsAsNamed(ctx, in)
			}
			in := update()
			in.Counted, in.Attributes = c.counted, c.attributes
			_, err := s.run(in)
			require.NoError(t, err)
			require.Equal(t, c.want, s.shown.outcomes)
		})
	}
}

func TestACancelOfAMessageWaitsForItsAnswerWhereItWasAskedTo(t *testing.T) {
	t.Parallel()
	for _, waits := range []bool{true, false} {
		s := newStage(t)
		in := letter()
		in.CancelWaits = waits
		_, err := s.runMessage(in)
		require.NoError(t, err)
		require.Equal(t, waits, s.asked.activities[0].WaitForCancellation)
	}
}

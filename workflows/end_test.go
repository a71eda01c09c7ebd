package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

// ending are the ways in which a call named by one of them ends.
var ending = map[string]string{
	"unreachable": contract.FailureUnreachable, "expired": contract.FailureExpired,
	"superseded": contract.FailureSuperseded, "dropped": contract.FailureDropped,
	"rejected": contract.FailureRejected, "uncertain": contract.FailureUncertain,
}

func endsAsNamed(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
	res, err := delivers(ctx, in)
	if kind := ending[name(in.Call)]; kind != "" {
		return contract.CallResult{}, final(kind, contract.CallResult{Method: in.Call.Method})
	}
	res.PossibleDuplicate = name(in.Call) == "possible_duplicate"
	return res, err
}

func TestAnUpdateShowsTheWorstEndOfItsCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []string
		want  []string
	}{
		"as wished":                 {[]string{"1", "2"}, nil},
		"nothing":                   {nil, nil},
		"death first":               {[]string{"expired", "possible_duplicate", "uncertain"}, []string{"uncertain"}},
		"expired before duplicate":  {[]string{"possible_duplicate", "1", "expired"}, []string{"expired"}},
		"expired before closed":     {[]string{"expired", "unreachable"}, []string{"expired"}},
		"closed before duplicate":   {[]string{"possible_duplicate", "unreachable"}, []string{"unreachable"}},
		"duplicate before replaced": {[]string{"superseded", "possible_duplicate"}, []string{"possible_duplicate"}},
		"replaced before dropped":   {[]string{"dropped", "superseded"}, []string{"superseded"}},
		"dropped":                   {[]string{"dropped", "1"}, []string{"dropped"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.send = endsAsNamed
			s.handler = func(int) ([]contract.Call, error) {
				var all []contract.Call
				for _, end := range c.calls {
					all = append(all, say(end))
				}
				return all, nil
			}
			in := update()
			in.Attributes = true
			_, err := s.run(in)
			require.Equal(t, name == "death first", err != nil)
			require.Equal(t, c.want, s.shown.outcomes)
		})
	}
}

func TestAnUpdateShowsItsOwnEnd(t *testing.T) {
	t.Parallel()
	for want, prepare := range map[string]func(*stage, *contract.UpdateInput){
		"too_large":      func(_ *stage, in *contract.UpdateInput) { in.Dead = contract.ReasonTooLarge },
		"expired":        func(_ *stage, in *contract.UpdateInput) { in.Expired = true },
		"handler_failed": func(s *stage, _ *contract.UpdateInput) { s.handler = failing },
		"cancelled": func(s *stage, in *contract.UpdateInput) {
			*in = waiting()
			s.turn = func(n int) (bool, error) { return n > 2, nil }
			s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Second)
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			in := update()
			prepare(s, &in)
			in.Attributes = true
			_, _ = s.run(in)
			require.Equal(t, []string{want}, s.shown.outcomes)
		})
	}
}

func failing(int) ([]contract.Call, error) { return nil, errors.New("fails") }

func TestAMessageShowsItsEnd(t *testing.T) {
	t.Parallel()
	for end, want := range map[string][]string{
		"rejected": {"rejected"}, "unreachable": {"unreachable"}, "possible_duplicate": {"possible_duplicate"}, "1": nil,
	} {
		s := newStage(t)
		s.send = endsAsNamed
		in := letter()
		in.Call, in.Attributes = say(end), true
		_, _ = s.runMessage(in)
		require.Equal(t, want, s.shown.outcomes)
	}
}

func TestAMessageThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	in := letter()
	in.Call.At, in.Attributes = s.start.Add(time.Hour), true
	s.env.RegisterDelayedCallback(s.env.CancelWorkflow, time.Minute)
	_, err := s.runMessage(in)
	require.NoError(t, err)
	require.Equal(t, []string{"cancelled"}, s.shown.outcomes)
}

func TestNoEndIsShownWhereItWouldHoldTheWorkflowUp(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = endsAsNamed
	s.handler = calls(say("expired"))
	_, err := s.run(update())
	require.NoError(t, err)
	require.Empty(t, s.shown.outcomes, "the namespace does not know the attribute")

	s = newStage(t)
	s.send = endsAsNamed
	s.handler = calls(say("expired"))
	s.env.OnGetVersion("outcome-attribute", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
	in := update()
	in.Attributes = true
	_, err = s.run(in)
	require.NoError(t, err)
	require.Empty(t, s.shown.outcomes, "it was started before there were ends to show")
}

// Each mark of a version is two events.
func TestWhatEndsAsWishedAsksForNoVersion(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.env.OnGetVersion("outcome-attribute", workflow.DefaultVersion, workflow.Version(1)).Panic("asked")
	in := update()
	in.Attributes = true
	_, err := s.run(in)
	require.NoError(t, err)
}

func TestAReplacedEditAndALateTypingAreNoDeath(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.send = endsAsNamed
	s.handler = calls(say("superseded"), say("dropped"), say("1"))
	res, err := s.run(update())
	require.NoError(t, err)
	require.Equal(t, contract.Done, res.Outcome)
	require.Equal(t, "superseded, dropped, delivered", outcomes(res.Calls))
}

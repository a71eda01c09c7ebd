package workflows_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/internal/contract"
)

func mustObject(t *testing.T, call contract.Call) json.RawMessage {
	t.Helper()
	raw, err := call.Object()
	require.NoError(t, err)
	return raw
}

// attempts runs an update whose handler fails until the given attempt, 0 for
// ever, and returns how it was tried.
func attempts(t *testing.T, works int, prepare func(*stage, *contract.UpdateInput)) ([]string, error) {
	t.Helper()
	s := newStage(t)
	s.handler = func(n int) ([]contract.Call, error) {
		if n == works {
			return nil, nil
		}
		return nil, errors.New("fails")
	}
	in := update()
	prepare(s, &in)
	_, err := s.run(in)
	require.Contains(t, s.story, "pass")
	return slices.DeleteFunc(s.story, func(what string) bool { return what != "handle" && what != "handle locally" }), err
}

func TestAHandlerIsTriedThreeTimesInAll(t *testing.T) {
	t.Parallel()
	lost := func(s *stage, _ *contract.UpdateInput) { s.env.SetCurrentHistoryLength(6) }
	long := func(_ *stage, in *contract.UpdateInput) { in.Handling.Timeout = 5*time.Second + 1 }
	once := func(_ *stage, in *contract.UpdateInput) { in.Handling.Attempts = 1 }
	waited := func(s *stage, in *contract.UpdateInput) {
		in.After = after
		s.turn = func(n int) (bool, error) { return n > 1, nil }
	}
	press := func(_ *stage, in *contract.UpdateInput) { *in = pressed() }
	for name, c := range map[string]struct {
		prepare func(*stage, *contract.UpdateInput)
		works   int
		want    []string
	}{
		"quick, works at once":      {func(*stage, *contract.UpdateInput) {}, 1, []string{"handle locally"}},
		"quick, works at the third": {func(*stage, *contract.UpdateInput) {}, 3, []string{"handle locally", "handle", "handle"}},
		"quick, never works":        {func(*stage, *contract.UpdateInput) {}, 0, []string{"handle locally", "handle", "handle"}},
		"a lost task counts":        {lost, 0, []string{"handle", "handle"}},
		"long":                      {long, 0, []string{"handle", "handle", "handle"}},
		"after a wait":              {waited, 0, []string{"handle", "handle", "handle"}},
		"a lost task, then a wait":  {func(s *stage, in *contract.UpdateInput) { lost(s, in); waited(s, in) }, 0, []string{"handle", "handle"}},
		"a button press":            {press, 0, []string{"handle", "handle", "handle"}},
		"one attempt":               {once, 0, []string{"handle locally"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := attempts(t, c.works, c.prepare)
			require.Equal(t, c.want, got)
			if c.works > 0 {
				require.NoError(t, err)
				return
			}
			require.Equal(t, contract.FailureHandler, failure(err).Type())
		})
	}
}

func TestTheOnlyAttemptLostIsTheLast(t *testing.T) {
	t.Parallel()
	got, err := attempts(t, 0, func(s *stage, in *contract.UpdateInput) {
		s.env.SetCurrentHistoryLength(6)
		in.Handling.Attempts = 1
	})
	require.Empty(t, got)
	require.Contains(t, failure(err).Message(), "its process died")
}

func TestAnUpdateOfBeforeDoesNotCountALostTaskAfterAWait(t *testing.T) {
	t.Parallel()
	got, err := attempts(t, 0, func(s *stage, in *contract.UpdateInput) {
		s.env.SetCurrentHistoryLength(6)
		s.env.OnGetVersion("counts-lost-task", workflow.DefaultVersion, workflow.Version(1)).Return(workflow.DefaultVersion)
		in.After = after
		s.turn = func(n int) (bool, error) { return n > 1, nil }
	})
	require.Equal(t, []string{"handle", "handle", "handle"}, got)
	require.Equal(t, contract.FailureHandler, failure(err).Type())
}

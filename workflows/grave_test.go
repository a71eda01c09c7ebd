package workflows_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/durabot/durabot/internal/contract"
)

const ann = "ann@desk"

// deadLetter is a letter with these calls, of which the first was rejected an
// hour ago.
func (s *stage) deadLetter(calls ...contract.Call) contract.DeadInput {
	return contract.DeadInput{
		BotID: bot, Kind: contract.DeadUpdate, Key: "9001", Reason: contract.ReasonRejected, Error: "because", Attempts: 1,
		ChatID: "42", Method: "sendMessage", AcceptedAt: s.start.Add(-2 * time.Hour).UTC(), At: s.start.Add(-time.Hour).UTC(),
		Calls: calls, Attributes: true,
	}
}

// unhandled is the letter of an update whose handler gave up.
func (s *stage) unhandled() contract.DeadInput {
	in, u := s.deadLetter(), update()
	in.Reason, in.Error, in.Attempts, in.Method, in.Update = contract.ReasonHandlerFailed, "said so", 3, "message", &u
	return in
}

// answer is what an action was answered.
type answer struct {
	accepted bool
	refused  error
	state    contract.DeadState
}

// kind is the type of the refusal, "" for none.
func (a *answer) kind() string { return failure(a.refused).Type() }

// does acts on the letter that is played, some time after its start.
func (s *stage) does(after time.Duration, what string, args any) *answer {
	a := new(answer)
	s.env.RegisterDelayedCallback(func() { s.doesNow(what, args, a) }, after)
	return a
}

func (s *stage) doesNow(what string, args any, a *answer) {
	s.env.UpdateWorkflow(what, "", &testsuite.TestUpdateCallback{
		OnAccept: func() { a.accepted = true },
		OnReject: func(err error) { a.refused = err },
		OnComplete: func(state any, err error) {
			require.NoError(s.t, err)
			// A later change of what the workflow holds is no part of the answer.
			require.NoError(s.t, json.Unmarshal([]byte(asJSON(state)), &a.state))
		},
	}, args)
}

func (s *stage) replays(after time.Duration, r contract.Replay) *answer {
	r.By = ann
	return s.does(after, contract.ReplayUpdate, r)
}

func (s *stage) discards(after time.Duration) *answer {
	return s.does(after, contract.DiscardUpdate, contract.Discard{By: ann, Reason: "too old"})
}

// lies plays a letter until it is closed.
func (s *stage) lies(in contract.DeadInput) contract.DeadState {
	s.t.Helper()
	raw := converter.NewRawValue(&commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingNil)}})
	if in.Update != nil {
		raw = converter.NewRawValue(&commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(rawUpdate),
		})
	}
	s.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: self})
	s.env.ExecuteWorkflow(contract.DeadLetterWorkflow, in, raw)
	require.True(s.t, s.env.IsWorkflowCompleted())
	var state contract.DeadState
	if err := s.env.GetWorkflowError(); err != nil {
		require.True(s.t, temporal.IsCanceledError(err), "%v", err)
		return s.now()
	}
	require.NoError(s.t, s.env.GetWorkflowResult(&state))
	require.JSONEq(s.t, asJSON(state), s.shown.last(), "the memo shows the end")
	return state
}

// now is the state that the letter shows.
func (s *stage) now() contract.DeadState {
	var state contract.DeadState
	require.NoError(s.t, json.Unmarshal([]byte(s.shown.last()), &state))
	return state
}

// newGrave is a stage for a letter: calls are delivered under the number that is
// their text.
func newGrave(t *testing.T) *stage {
	t.Helper()
	s := newBareStage(t)
	s.send = numbered
	return s
}

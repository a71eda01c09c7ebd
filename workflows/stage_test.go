package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/durabot/durabot/activities"
	"github.com/durabot/durabot/internal/contract"
)

const (
	bot   = 7
	self  = "update/7/9001"
	after = "update/7/9000"
)

// stage is a workflow with fakes for everything it asks for, and a record of
// what it asked.
type stage struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	shown *shown
	asked *asked

	turn    func(n int) (bool, error) // n from 1
	handler func(n int) ([]contract.Call, error)
	send    func(ctx context.Context, in contract.SendInput) (contract.CallResult, error)

	passed    func()
	passError error

	mu       sync.Mutex
	story    []string // what happened, in order
	at       []time.Duration
	sends    []contract.SendInput
	sent     []activity.Info
	messages []contract.MessageInput
	handled  []contract.HandleInput
	start    time.Time
	turns    int
	handles  int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	asked := new(asked)
	env := newEnv(asked)
	s := &stage{
		t: t, env: env, shown: watch(env), asked: asked,
		turn:    func(int) (bool, error) { return true, nil },
		handler: func(int) ([]contract.Call, error) { return []contract.Call{say("1")}, nil },
		send:    delivers,
	}
	s.env.SetCurrentHistoryLength(3)
	s.start = s.env.Now()
	s.fake()
	return s
}

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
			s.note(strings.TrimSpace("pass " + strings.Join(in.Askers, " ")))
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

// fakeMessages records the message workflows that are started, and ends them.
func (s *stage) fakeMessages() {
	s.env.OnWorkflow(contract.MessageWorkflow, mock.Anything, mock.Anything).Return(
		func(ctx workflow.Context, in contract.MessageInput) (contract.CallResult, error) {
			s.note("message " + workflow.GetInfo(ctx).WorkflowExecution.ID)
			s.messages = append(s.messages, in)
			return contract.CallResult{}, nil
		})
}

func (s *stage) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.story, s.at = append(s.story, what), append(s.at, s.env.Now().Sub(s.start))
}

const rawUpdate = `{"update_id":9001,"message":{"text":"hi"}}`

func update() contract.UpdateInput {
	return contract.UpdateInput{
		BotID: bot, UpdateID: 9001, Kind: "message", ChatID: 42, UserID: 43,
		ReceivedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Handling:   contract.Handling{Timeout: 5 * time.Second, Attempts: 3, AnswerCallbacks: true},
	}
}

func waiting() contract.UpdateInput {
	in := update()
	in.After = after
	return in
}

func pressed() contract.UpdateInput {
	in := update()
	in.Kind, in.CallbackID = "callback_query", "77"
	return in
}

// run plays an update and returns its result, also when that stands in the
// details of its failure.
func (s *stage) run(in contract.UpdateInput) (contract.UpdateResult, error) {
	s.t.Helper()
	var res contract.UpdateResult
	s.play(contract.UpdateWorkflow, &res, in, converter.NewRawValue(&commonpb.Payload{
		Metadata: map[string][]byte{converter.MetadataEncoding: []byte(converter.MetadataEncodingJSON)}, Data: []byte(rawUpdate),
	}))
	return res, s.env.GetWorkflowError()
}

func (s *stage) runMessage(in contract.MessageInput) (contract.CallResult, error) {
	s.t.Helper()
	var res contract.CallResult
	s.play(contract.MessageWorkflow, &res, in)
	return res, s.env.GetWorkflowError()
}

func (s *stage) play(kind string, res any, args ...any) {
	s.t.Helper()
	s.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: self})
	s.env.ExecuteWorkflow(kind, args...)
	require.True(s.t, s.env.IsWorkflowCompleted())
	err := s.env.GetWorkflowError()
	if err == nil {
		require.NoError(s.t, s.env.GetWorkflowResult(res))
		return
	}
	if !temporal.IsCanceledError(err) {
		require.NoError(s.t, failure(err).Details(res), "a failed workflow carries its result: %v", err)
	}
}

// failure is the application error of a failed workflow, an empty one for none.
func failure(err error) *temporal.ApplicationError {
	app := new(temporal.ApplicationError)
	errors.As(err, &app)
	return app
}

// say is a message whose text is its name in the story.
func say(text string) contract.Call {
	return contract.Call{Method: "sendMessage", Params: json.RawMessage(`{"chat_id":42,"text":"` + text + `"}`)}
}

// name is how a call appears in the story.
func name(call contract.Call) string {
	var p struct {
		Text string `json:"text"`
	}
	raw, err := call.Object()
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Text == "" {
		return call.Method
	}
	return p.Text
}

func delivers(_ context.Context, in contract.SendInput) (contract.CallResult, error) {
	return contract.CallResult{Method: in.Call.Method, ChatID: "42", Outcome: contract.Delivered, MessageID: "1"}, nil
}

// dies is a Send that ends the named call with a final failure and delivers the others.
func dies(named, kind string) func(context.Context, contract.SendInput) (contract.CallResult, error) {
	return func(ctx context.Context, in contract.SendInput) (contract.CallResult, error) {
		if name(in.Call) != named {
			return delivers(ctx, in)
		}
		return contract.CallResult{}, final(kind, contract.CallResult{Method: in.Call.Method, ChatID: "42", Error: "because", Attempts: 1})
	}
}

func final(kind string, details ...any) error {
	return temporal.NewApplicationErrorWithOptions("message of "+kind, kind, temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: details,
	})
}

func outcomes(calls []contract.CallResult) string {
	var all []string
	for _, c := range calls {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s %s", c.Outcome, c.Reason), " "))
	}
	return strings.Join(all, ", ")
}

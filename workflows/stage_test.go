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

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/durabot/durabot/internal/contract"
)

const (
	bot   = 7
	self  = "update/7/9001"
	after = "update/7/9000"
	grave = "bury dead/7/update/9001"
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

	graveyard *testsuite.MockCallWrapper
	split     func(contract.Call) (contract.SplitResult, error)
	outcome   func(n int) (contract.Outcome, error) // of the message before; n from 1

	mu         sync.Mutex
	story      []string // what happened, in order
	at         []time.Duration
	sends      []contract.SendInput
	sent       []activity.Info
	messages   []contract.MessageInput
	buried     []contract.DeadInput
	bodies     []string // what lies beside them, as JSON
	handled    []contract.HandleInput
	start      time.Time
	turns      int
	known      contract.Ledger // of the attempts at a call that is taken back
	knownError error
	handles    int
	outcomes   int
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := newBareStage(t)
	s.fakeLetters()
	return s
}

// newBareStage is a stage on which letters are what they are.
func newBareStage(t *testing.T) *stage {
	t.Helper()
	asked := new(asked)
	env := newEnv(asked)
	s := &stage{
		t: t, env: env, shown: watch(env), asked: asked,
		turn:    func(int) (bool, error) { return true, nil },
		handler: func(int) ([]contract.Call, error) { return []contract.Call{say("1")}, nil },
		send:    delivers,
		split:   atBars,
		outcome: func(int) (contract.Outcome, error) { return contract.Delivered, nil },
	}
	s.env.SetCurrentHistoryLength(3)
	s.start = s.env.Now()
	s.fake()
	s.fakeMore()
	return s
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

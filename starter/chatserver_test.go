package starter_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/durabot/durabot/internal/contract"
	"github.com/durabot/durabot/starter"
)

// chatServer is a Temporal with the workflows of chats, which do at once what
// they are told. A workflow with nothing to say is closed, and still known.
type chatServer struct {
	mu     sync.Mutex
	states map[string]contract.ChatState
	asked  []request
	opts   client.StartWorkflowOptions // of the last start

	// before is called ahead of each request, outside the lock: an error is one
	// that the server never heard.
	before func(ctx context.Context, r request) error
	// lists, when set, is what a list shows in place of the truth.
	lists func() map[string]contract.ChatState
}

// request is one that the server was sent.
type request struct {
	verb, id string
	arg      any
}

func newChatServer() *chatServer { return &chatServer{states: map[string]contract.ChatState{}} }

func (s *chatServer) chats() *starter.Chats {
	return starter.NewChats(s, bot, true, slog.New(slog.DiscardHandler))
}

// enter waits for what the test wants to happen first, and then locks.
func (s *chatServer) enter(ctx context.Context, r request) error {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(ctx, r); err != nil {
			return err
		}
	}
	s.mu.Lock()
	return nil
}

func (s *chatServer) SignalWithStartWorkflow(ctx context.Context, id, signal string, arg any, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	if err := s.enter(ctx, request{signal, id, arg}); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.opts = o
	state, ok := s.states[id]
	if !ok {
		state = args[0].(contract.ChatInput).State
	}
	mark := arg.(contract.ChatMark)
	if c := mark.Closed; c != nil && (state.Closed == nil || state.Closed.Since.Before(c.Since)) {
		state.Closed = c
	}
	if m := mark.Moved; m != nil && (state.Moved == nil || state.Moved.Since.Before(m.Since)) {
		state.Moved = m
	}
	state.Penalties = append(state.Penalties, mark.Penalties...)
	s.states[id] = state
	return nil, nil //nolint:nilnil // the run is not looked at
}

func (s *chatServer) SignalWorkflow(ctx context.Context, id, _, signal string, arg any) error {
	if err := s.enter(ctx, request{signal, id, arg}); err != nil {
		return err
	}
	defer s.mu.Unlock()
	state, ok := s.states[id]
	if !ok || !isOpen(state) {
		return serviceerror.NewNotFound("no such workflow")
	}
	if c := state.Closed; c != nil && c.Since.Before(arg.(contract.ChatClear).Before) {
		state.Closed = nil
	}
	s.states[id] = state
	return nil
}

func (s *chatServer) DescribeWorkflowExecution(ctx context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if err := s.enter(ctx, request{verb: "describe", id: id}); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	state, ok := s.states[id]
	if !ok {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	info := execution(id, map[string]any{contract.MemoState: state}, time.Now())
	info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	if isOpen(state) {
		info.Status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: info}, nil
}

// ListWorkflow lists two workflows a page.
func (s *chatServer) ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if err := s.enter(ctx, request{verb: "list", id: r.GetQuery()}); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	states := s.states
	if s.lists != nil {
		states = s.lists()
	}
	after := string(r.GetNextPageToken())
	res := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		if id <= after || !isOpen(states[id]) {
			continue
		}
		if len(res.GetExecutions()) == 2 {
			res.NextPageToken = []byte(res.GetExecutions()[1].GetExecution().GetWorkflowId())
			break
		}
		res.Executions = append(res.Executions, execution(id, map[string]any{contract.MemoState: states[id]}, time.Now()))
	}
	return res, nil
}

func isOpen(s contract.ChatState) bool {
	return s.Closed != nil || s.Moved != nil || len(s.Penalties) > 0
}

// set makes the server hold a state, whatever it held.
func (s *chatServer) set(state contract.ChatState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states[contract.ChatID(bot, state.ChatID)] = state
}

func (s *chatServer) state(chat int64) contract.ChatState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[contract.ChatID(bot, chat)]
}

// verbs are the requests since the last call.
func (s *chatServer) verbs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{}
	for _, r := range s.asked {
		all = append(all, r.verb)
	}
	s.asked = nil
	return all
}

// breaks makes every request fail with the error, nil to mend it.
func (s *chatServer) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = func(context.Context, request) error { return err }
}

// hang is a request that no answer comes to.
func hang(ctx context.Context, _ request) error {
	<-ctx.Done()
	return ctx.Err()
}

func closedState(chat int64, since time.Time) contract.ChatState {
	return contract.ChatState{ChatID: chat, Closed: &contract.ChatClosed{Why: "blocked", Since: since}}
}

func movedState(from, to int64, since time.Time) contract.ChatState {
	return contract.ChatState{ChatID: from, Moved: &contract.ChatMoved{To: to, Since: since}}
}

// load loads and returns what it told of.
func load(t *testing.T, c *starter.Chats) (penalties []contract.ChatPenalty, moves map[int64]int64) {
	t.Helper()
	moves = map[int64]int64{}
	err := c.Load(t.Context(),
		func(_ int64, method string, until time.Time) {
			penalties = append(penalties, contract.ChatPenalty{Method: method, Until: until})
		},
		func(from, to int64) { moves[from] = to })
	if err != nil {
		t.Fatal(err)
	}
	return penalties, moves
}
